"""Tests of task 4.5."""
import math

from judge.testing import task

T = task("4.5", "Training well", 20, "4_training/4.5_recipe.cpp",
         exports=["course::initialize", "course::learning_rate", "course::clip_gradients", "course::Dropout::forward", "course::Dropout::backward"], extra=True)

TRAIN, EVAL, NEW = 1, 0, -1  # NEW: nobody said which


def initialize(t, outputs, inputs, random, gain=1.0):
    return t.run(function="initialize", outputs=outputs, inputs=inputs, random=random, gain=gain)


def rates(t, at, lr=1.0, least=0.0, warmup=0, steps=10):
    return t.run(function="rates", at=at, lr=lr, least=least, warmup=warmup, steps=steps)["rates"]


def clip(t, gradients, most, sizes=None):
    return t.run(function="clip", gradients=gradients, most=most, sizes=[len(gradients)] if sizes is None else sizes)


def dropout(t, x, random, p=0.5, modes=(TRAIN,), dy=None, **more):
    return t.run(function="dropout", x=x, random=random, p=p, modes=list(modes), dy=dy or [1.0] * len(x), **more)


@T.test(3, "first weights", "weights between -b and b, where b = gain * sqrt(3 / inputs)", hint="inputs, not outputs: each result sums as many products as there are inputs.")
def _(t):
    t.close(initialize(t, 1, 3, [0.0, 0.5, 0.75])["w"], [-1.0, 0.0, 0.5], "w")
    t.close(initialize(t, 2, 12, [0.25])["w"], [-0.25] * 24, "w of 12 inputs")
    t.close(initialize(t, 12, 3, [0.75], 2.0)["w"], [1.0] * 36, "w with a gain of 2")
    found = initialize(t, 2, 3, [0.0, 0.25, 0.5, 0.75, 0.125, 0.625])
    t.close(found["w"], [-1.0, -0.5, 0.0, 0.5, -0.75, 0.25], "w, in the order of next()")
    t.equal(found["calls"], [6], "calls of next()")


@T.test(2, "spread", "results are as large as inputs", hint="Weights of variance gain^2 / inputs keep the size of numbers from layer to layer.")
def _(t):
    for inputs in (30, 300):
        outputs = 40
        w, x = initialize(t, outputs, inputs, t.floats(outputs * inputs, 0, 0.999))["w"], t.floats(inputs, -1.7, 1.7)
        y = [math.fsum(map(float.__mul__, w[r * inputs:r * inputs + inputs], x)) for r in range(outputs)]
        found, given = (math.sqrt(math.fsum(each * each for each in numbers) / len(numbers)) for numbers in (y, x))
        t.check(0.6 < found / given < 1.6, f"the root of the mean square of {outputs} results: found {found:.2f}, expected about that of {inputs} inputs, {given:.2f}")


@T.test(3, "warm-up", "the rate rises along a line", hint="Step 0 has lr / warmup, the last step of the warm-up has lr.")
def _(t):
    t.close(rates(t, [0, 1, 2, 3], warmup=4), [0.25, 0.5, 0.75, 1.0], "rates of steps 0 to 3 with a warm-up of 4")
    t.close(rates(t, [0], 0.5, 0.1, 1), [0.5], "rate of step 0 with a warm-up of 1")
    t.close([100 * each for each in rates(t, [0, 99], 0.02, 0.01, 100, 1000)], [0.02, 2.0], "rates of steps 0 and 99 with a warm-up of 100, times 100,")


@T.test(2, "cosine", "the rate falls along half a wave of the cosine", hint="t is 0 at step warmup and 1 at step `steps`: the warm-up does not count. From `steps` on the rate is `least`.")
def _(t):
    t.close(rates(t, [0, 5, 10, 11, 100]), [1.0, 0.5, 0.0, 0.0, 0.0], "rates of 10 steps without a warm-up")
    t.close(rates(t, [4, 6, 7, 8, 10], 2.0, 0.5, 4), [2.0, 1.625, 1.25, 0.875, 0.5], "rates of steps 4 to 10 with a warm-up of 4, least = 0.5")
    t.close(rates(t, [99, 100, 101], 1.0, 0.25, 0, 100), [0.25 + 0.375 * (1 + math.cos(math.pi * 0.99)), 0.25, 0.25], "rates of the last steps of 100")


@T.test(4, "clipping", "all gradients together are cut to a norm, and keep their direction", hint="One norm for all parameters: a norm for each would change the direction of the step.")
def _(t):
    for most, scale in ((10.0, 1.0), (5.0, 1.0), (2.5, 0.5), (1.0, 0.2), (0.0, 0.0)):
        for sizes in ([2], [1, 1], [0, 1, 0, 1]):
            found = clip(t, [3.0, -4.0], most, sizes)
            t.close(found["norm"], [5.0], "norm")
            t.close(found["gradients"], [3 * scale, -4 * scale], f"gradients, cut to a norm of {most:g}")
    found = clip(t, [0.0, 0.0], 1.0)
    t.equal(found["gradients"], [0.0, 0.0], "gradients of 0")
    t.equal(clip(t, [], 1.0, [])["norm"], [0.0], "norm of no gradients")


@T.test(1, "large gradients", "gradients of 1e25, and infinity", hint="The square of 1e25 is no float: sum in double. What is not finite stays, so that the caller sees it.")
def _(t):
    found = clip(t, [3e25, 4e25], 1.0)
    t.close([each / 5e25 for each in found["norm"]], [1.0], "norm, divided by what is expected,")
    t.close(found["gradients"], [0.6, 0.8], "gradients")
    found = clip(t, [math.inf, 2.0], 1.0)
    t.equal(found["gradients"], [math.inf, 2.0], "gradients, of which one is infinite")
    t.equal(found["norm"], [math.inf], "norm")


@T.test(2, "dropout", "numbers become 0, and the others larger", hint="What stays is divided by 1 - p, so that sums stay as they were on average.")
def _(t):
    x = [1.0, 2.0, 3.0, 4.5]
    found = dropout(t, x, [0.1, 0.5, 0.9, 0.499])
    t.close(found["y"], [0.0, 4.0, 6.0, 0.0], "y")
    t.equal(found["calls"], [4], "calls of next()")
    t.close(dropout(t, x, [0.25, 0.2, 0.0, 0.999], 0.2)["y"], [1.25, 2.5, 0.0, 5.625], "y with p = 0.2")
    t.close(dropout(t, x, [0.0, 0.5], 0.0)["y"], x, "y with p = 0")
    t.close(dropout(t, x, [0.1, 0.9], modes=[NEW])["y"], [0.0, 4.0, 0.0, 9.0], "y of a new layer, which is in training")
    t.close(dropout(t, [math.inf, math.nan, math.inf], [0.1, 0.2, 0.9])["y"], [0.0, 0.0, math.inf],
            "y of an infinity and a NaN that are dropped, and of an infinity that stays")


@T.test(2, "gradient of dropout", "the gradient goes where the numbers went", hint="Keep the factors of forward, and draw no others in backward.")
def _(t):
    found = dropout(t, [1.0, 2.0, 3.0], [0.1, 0.5, 0.9], modes=[TRAIN], dy=[10.0, 20.0, 30.0])
    t.close(found["dx"], [0.0, 40.0, 60.0], "dx")
    found = dropout(t, [0.0, 0.0, 0.0], [0.5, 0.1, 0.9], modes=[TRAIN], dy=[10.0, 20.0, 30.0])
    t.close(found["dx"], [20.0, 0.0, 60.0], "dx, where x is 0")
    found = dropout(t, [1.0, 2.0], [0.1, 0.9, 0.9, 0.1], modes=[TRAIN, TRAIN], dy=[1.0, 1.0])
    t.close(found["dx"], [0.0, 2.0, 2.0, 0.0], "dx of two steps, each with numbers of its own")
    found = dropout(t, [1.0, 2.0], [0.1, 0.9], modes=[TRAIN, EVAL], dy=[3.0, 4.0], **{"modes back": [EVAL, TRAIN]})
    t.close(found["dx"], [0.0, 8.0, 3.0, 4.0], "dx of a step in training and of one in evaluation, where train() changes the mode before backward")


@T.test(1, "evaluation", "in evaluation nothing changes, and nothing is drawn", hint="train(false) makes a layer that gives back what it gets, in both directions.")
def _(t):
    found = dropout(t, [1.0, 2.5], [0.1], modes=[EVAL], dy=[3.0, 4.0])
    t.equal((found["y"], found["dx"], found["calls"]), ([1.0, 2.5], [3.0, 4.0], [0]), "y, dx and calls of next()")
    found = dropout(t, [1.0, 2.5], [0.1, 0.9], modes=[TRAIN, EVAL, TRAIN], dy=[3.0, 4.0])
    t.close(found["y"], [0.0, 5.0, 1.0, 2.5, 0.0, 5.0], "y in training, in evaluation, and in training again")
    t.close(found["dx"], [0.0, 8.0, 3.0, 4.0, 0.0, 8.0], "dx in training, in evaluation, and in training again")
