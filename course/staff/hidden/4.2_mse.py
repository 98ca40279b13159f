"""Hidden tests of task 4.2."""
from judge.testing import hidden


@hidden("4.2", of="loss of many", test="random loss", title="the loss of random numbers", hint="Try 1000 and 3001 numbers.")
def _(t):
    for n in (33, 1000, 3001):
        y, target = t.floats(n), t.floats(n)
        t.close(t.run(y=y, target=target, wants_gradient=1)["loss"][0], sum((a - b) ** 2 for a, b in zip(y, target)) / n, "loss")


@hidden("4.2", of="gradient of many", test="random gradient", title="the gradient of random numbers",
        hint="Try 1000 and 3001 numbers.")
def _(t):
    for n in (33, 1000, 3001):
        y, target = t.floats(n), t.floats(n)
        t.close([n * each for each in t.run(y=y, target=target, wants_gradient=1)["gradient"]],
                [2 * (a - b) for a, b in zip(y, target)], "n * gradient")


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
