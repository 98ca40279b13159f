"""Hidden tests of task 4.5."""
import math

from judge.testing import hidden, public


@hidden("4.5", of="first weights", test="random first weights", title="weights of random sizes and gains", hint="b = gain * sqrt(3 / inputs).")
def _(t):
    for outputs, inputs, gain in ((1, 1, 1.0), (7, 5, 0.5), (3, 300, math.sqrt(2)), (700, 100, 1.0)):
        random = t.floats(outputs * inputs, 0, 0.999)
        found = public("4.5").initialize(t, outputs, inputs, random, gain)
        t.close(found["w"], [(2 * each - 1) * gain * math.sqrt(3 / inputs) for each in random], "w")
        t.equal(found["calls"], [outputs * inputs], "calls of next()")


@hidden("4.5", of="spread", test="spread of a gain", title="results of weights with a gain", hint="Weights of variance gain^2 / inputs.")
def _(t):
    inputs, outputs, gain = 200, 60, 3.0
    w, x = public("4.5").initialize(t, outputs, inputs, t.floats(outputs * inputs, 0, 0.999), gain)["w"], t.floats(inputs)
    y = [math.fsum(map(float.__mul__, w[r * inputs:r * inputs + inputs], x)) for r in range(outputs)]
    found, given = (math.sqrt(math.fsum(each * each for each in numbers) / len(numbers)) for numbers in (y, x))
    t.check(0.6 < found / given / gain < 1.6, f"the root of the mean square of {outputs} results: found {found:.2f}, expected about {gain * given:.2f}")


def rate(step, lr, least, warmup, steps):
    if step < warmup:
        return lr * (step + 1) / warmup
    return least + (lr - least) * (1 + math.cos(math.pi * min(1, (step - warmup) / (steps - warmup)))) / 2


@hidden("4.5", of="warm-up", test="random warm-ups", title="rates of random warm-ups", hint="Step 0 has lr / warmup.")
def _(t):
    for _ in range(4):
        lr, warmup = t.random.randint(1, 64) / 64, t.random.randint(1, 3000)
        at = sorted(t.random.randrange(warmup) for _ in range(8))
        found = public("4.5").rates(t, at, lr, 0.0, warmup, warmup + 10)
        t.close([each / rate(step, lr, 0, warmup, warmup + 10) for each, step in zip(found, at)], [1.0] * 8, "rates, each divided by the right one,")


@hidden("4.5", of="cosine", test="random schedules", title="rates of random schedules, of up to 5 billion steps", hint="A number of a step is a long.")
def _(t):
    for warmup, steps in ((0, 1), (3, 50), (1000, 100000), (10**9, 5 * 10**9)):
        lr, least = t.random.randint(10, 64) / 8, t.random.randint(0, 9) / 8
        at = [warmup, *sorted(t.random.randrange(steps) for _ in range(6)), steps - 1, steps, steps + 7]
        t.close(public("4.5").rates(t, at, lr, least, warmup, steps), [rate(each, lr, least, warmup, steps) for each in at], "rates", 1e-4)
    t.close(public("4.5").rates(t, [1, 2**62], warmup=4, steps=2**63 - 1), [0.5, 0.5], "rates of 2^63 - 1 steps")


@hidden("4.5", of="clipping", test="random gradients", title="gradients of several parameters", hint="One norm for all parameters.")
def _(t):
    for sizes in ([7], [1, 300, 0, 20], [40] * 50):
        gradients = t.floats(sum(sizes), -3, 3)
        norm = math.sqrt(math.fsum(each * each for each in gradients))
        for most in (norm * 2, norm / 2, 1e-3):
            found = public("4.5").clip(t, gradients, most, sizes)
            t.close([found["norm"][0] / norm], [1.0], "norm, divided by what is expected,", 1e-4)
            scale = min(1.0, most / norm)
            t.close([each / scale for each in found["gradients"]], gradients, f"gradients, cut to a norm of {most:g} and divided by {scale:g},", 1e-4)


@hidden("4.5", of="large gradients", test="other large gradients", title="gradients of 1e30, and NaN", hint="Sum in double; what is not finite stays.")
def _(t):
    found = public("4.5").clip(t, [1e30, -1e30, 1e30, -1e30], 2.0, [1, 3])
    t.close(found["gradients"], [1.0, -1.0, 1.0, -1.0], "gradients")
    found = public("4.5").clip(t, [math.nan, 3.0], 1.0, [1, 1])
    t.equal(found["gradients"], [math.nan, 3.0], "gradients, of which one is NaN")
    t.check(math.isnan(found["norm"][0]), f"norm: found {found['norm'][0]:g}, expected NaN")
    found = public("4.5").clip(t, [3e-30, 4e-30], 1e-30)
    t.close([each * 1e30 for each in found["gradients"]], [0.6, 0.8], "gradients of 1e-30, times 1e30,", 1e-4)


@hidden("4.5", of="dropout", test="random dropout", title="dropout of random numbers", hint="Numbers below p become 0, what stays is divided by 1 - p.")
def _(t):
    for p, n in ((0.25, 40), (0.5, 3000), (0.875, 200)):
        x, random = t.floats(n), [t.random.randrange(64) / 64 for _ in range(n)]
        found = public("4.5").dropout(t, x, random, p)
        t.close(found["y"], [0.0 if r < p else each / (1 - p) for each, r in zip(x, random)], "y")
    for special in (math.inf, -math.inf, math.nan):
        found = public("4.5").dropout(t, [1.0, special, special], [0.75, 0.25, 0.5], 0.375)
        t.close(found["y"], [1.6, 0.0, special], f"y of {special:g}, which is dropped, and which stays")


@hidden("4.5", of="gradient of dropout", test="random gradients of dropout", title="gradients of two steps", hint="Keep the factors of forward.")
def _(t):
    n, p = 50, 0.375
    dy, random = t.floats(n), [t.random.randrange(64) / 64 for _ in range(2 * n)]
    found = public("4.5").dropout(t, t.floats(n), random, p, [1, 1], dy)
    t.close(found["dx"], [0.0 if r < p else each / (1 - p) for each, r in zip(dy * 2, random)], "dx")
    modes = [t.random.randint(0, 1) for _ in range(6)] + [1, 0]
    found = public("4.5").dropout(t, t.floats(n), random[:n], p, modes, dy, **{"modes back": [1 - mode for mode in modes]})
    right = [each if not mode else 0.0 if r < p else each / (1 - p) for mode in modes for each, r in zip(dy, random)]
    t.close(found["dx"], right, "dx, where train() changes the mode between forward and backward")


@hidden("4.5", of="evaluation", test="other evaluations", title="evaluation of 300 numbers", hint="In evaluation nothing changes, and nothing is drawn.")
def _(t):
    x, dy = t.floats(300), t.floats(300)
    found = public("4.5").dropout(t, x, [0.0], 0.75, [0, 0], dy)
    t.equal(found["y"], x * 2, "y")
    t.equal(found["dx"], dy * 2, "dx")
    t.equal(found["calls"], [0], "calls of next()")
