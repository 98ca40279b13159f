"""Hidden tests of task 4.2."""
import math

from judge.testing import hidden, public


@hidden("4.2", of="loss of many", test="random loss", title="the loss of random numbers", hint="Try 1000 and 3001 numbers.")
def _(t):
    for n in (33, 1000, 3001):
        y, target = t.floats(n), t.floats(n)
        t.close(t.run(y=y, target=target, wants_gradient=1)["loss"][0], sum((a - b) ** 2 for a, b in zip(y, target)) / n, "loss")
    for special, wants in ((math.nan, 1), (math.nan, 0), (math.inf, 1), (-math.inf, 0)):
        y = t.floats(1000)
        y[t.random.randrange(1000)] = special
        loss = t.run(y=y, target=[0.5] * 1000, wants_gradient=wants)["loss"][0]
        if math.isnan(special):
            t.close(loss, math.nan, "loss where one number is NaN")
        else:
            public("4.2").not_finite(t, loss)
    for n in (8, 1024):
        for shift in ([1, 1], [1, 0], [0, 1], [2, 2], [3, 4]):
            public("4.2").shifted_loss(t, n, shift)


@hidden("4.2", of="gradient of many", test="random gradient", title="the gradient of random numbers",
        hint="Try 1000 and 3001 numbers.")
def _(t):
    for n in (33, 1000, 3001):
        y, target = t.floats(n), t.floats(n)
        t.close([n * each for each in t.run(y=y, target=target, wants_gradient=1)["gradient"]],
                [2 * (a - b) for a, b in zip(y, target)], "n * gradient")
    y, at = t.quarters(600), t.random.randrange(600)
    y[at] = math.nan
    t.close(t.run(y=y, target=[0.0] * 600, wants_gradient=1)["gradient"], [each / 300 for each in y], "gradient where one number is NaN")
    for n in (8, 1024):
        for shift in ([1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 2, 2], [4, 8, 3]):
            public("4.2").shifted_gradient(t, n, shift)


@hidden("4.2", of="one launch", test="launches", title="one launch, with and without a gradient, for any length", hint="One block does it all.")
def _(t):
    for n, wants in [(3, 1), (257, 0), (20011, 1)]:
        y, target = t.floats(n), t.floats(n)
        reply = t.run(y=y, target=target, wants_gradient=wants)
        t.close(reply["loss"][0], sum((a - b) ** 2 for a, b in zip(y, target)) / n, "loss")
        if wants:
            t.close([n * each for each in reply["gradient"]], [2 * (a - b) for a, b in zip(y, target)], "n * gradient")
        if not t.on_gpu:
            t.equal(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 2 * n, "loads from global memory")


@hidden("4.2", of="loss of many", test="more numbers than an int counts", title="more numbers than an int counts", hint="n is a long.")
def _(t):
    if not t.on_gpu:
        t.begins(0.4, huge=2**31 + 1000)  # longer, and the memory that it reads counts


@hidden("4.2", of="loss of few", test="losses of others", title="the loss of a few random numbers", hint="Square the differences, add them up, divide by how many there are.")
def _(t):
    for n, level in ((1, 0), (2, 5000), (3, 0), (7, -9000), (20, 0)):
        y, target = ([level + each for each in t.quarters(n)] for _ in range(2))
        t.close(public("4.2").mse(t, y, target)["loss"][0], sum((a - b) ** 2 for a, b in zip(y, target)) / n, "loss")
    for scale in (2.0 ** -30, 2.0 ** 40):  # numbers of other sizes have a loss of another size
        y, target = t.quarters(9), t.quarters(9)
        found = public("4.2").mse(t, [scale * each for each in y], [scale * each for each in target])["loss"][0]
        t.close(found / scale ** 2, sum((a - b) ** 2 for a, b in zip(y, target)) / 9, f"loss of numbers times {scale:g}, divided by its square,")


@hidden("4.2", of="gradient of few", test="gradients of others", title="the gradient for a few random numbers", hint="The square gives a factor, the mean another.")
def _(t):
    for n in (1, 2, 3, 7, 20):
        y, target = t.quarters(n), t.quarters(n)
        t.close(public("4.2").mse(t, y, target)["gradient"], [2 * (a - b) / n for a, b in zip(y, target)], "gradient")
        for scale in (2.0 ** -30, 2.0 ** 40):
            found = public("4.2").mse(t, [scale * each for each in y], [scale * each for each in target])["gradient"]
            t.close([each / scale for each in found], [2 * (a - b) / n for a, b in zip(y, target)], f"gradient of numbers times {scale:g}, divided by that,")


@hidden("4.2", of="loss of many", test="a million numbers", title="the loss of 100,000 numbers, where each counts", hint="A thread adds many squares: their sum is far larger than each.")
def _(t):
    n = 100000
    t.close(public("4.2").mse(t, [1.0] * n, [0.0] * n)["loss"][0], 1.0, "loss", 1e-4)


@hidden("4.2", of="loss only", test="losses alone of others", title="without a gradient, of random lengths", hint="A null pointer in place of the gradient.")
def _(t):
    for _ in range(3):
        n = t.random.randint(2, 900)
        y, target = public("4.2").growing(t, n)
        t.close(public("4.2").mse(t, y, target, wants_gradient=0)["loss"][0], (n - 1) * (2 * n - 1) / 6, "loss")


@hidden("4.2", of="loads", test="loads of other lengths", title="each number is loaded once, of 2,500", hint="Keep the difference in a register.")
def _(t):
    for launch in public("4.2").mse(t, *public("4.2").growing(t, 2500)).launches:
        t.at_most(launch.global_loads, 5000, "loads from global memory")


@hidden("4.2", of="sectors", test="sectors of other lengths", title="neighbours take neighbours, of 3,072", hint="Thread t takes the elements t, t + blockDim.x and so on.")
def _(t):
    for launch in public("4.2").mse(t, *public("4.2").growing(t, 3072)).launches:
        t.at_most(launch.sectors, 3 * 3072 / 8 + 8, "sectors of global memory", launch.worst_sectors)
