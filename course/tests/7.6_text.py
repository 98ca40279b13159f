"""Tests of task 7.6. The model is a table: for each token the logits of the one that comes next."""
import math

from judge.testing import task

T = task("7.6", "A model that writes text", 15, "7_transformer/7.6_text.cpp",
         exports=["course::cross_entropy", "course::train_text", "course::write_text"], extra=True)


def loss(t, logits, targets):
    return t.run(logits=logits, targets=targets)


def train(t, text, logits, window, pieces=1, steps=1, random=(0.0,), lr=0.0, **more):
    return t.run(text=text, logits=logits, window=window, pieces=pieces, steps=steps, random=list(random), lr=lr, **more)


def write(t, logits, prompt, count, temperature=0.0, random=(0.0,), window=4):
    return t.run(logits=logits, prompt=prompt, count=count, temperature=temperature, random=list(random), window=window, lr=0.0)


@T.test(2, "loss", "the mean of -log(softmax(logits)[target])", hint="log(sum of exp(logits)) - logits[target], and the mean of that over the rows.")
def _(t):
    for width in (1, 2, 5):
        t.close(loss(t, [0.5] * width, [0])["loss"], [math.log(width)], "loss, where all logits are equal")
    t.close(loss(t, [0.0, math.log(3)], [1])["loss"], [math.log(4 / 3)], "loss")
    t.close(loss(t, [0.0, math.log(3), math.log(7), 0.0], [0, 1])["loss"], [math.log(4 * 8) / 2], "loss of two rows")


@T.test(2, "gradient", "softmax(logits), less 1 at the target, divided by the rows", hint="Rows of the gradient sum to 0; the loss is a mean, so each is divided by the number of rows.")
def _(t):
    t.close(loss(t, [0.0, math.log(3)], [1])["dlogits"], [0.25, -0.25], "dlogits")
    t.close(loss(t, [0.0, math.log(3), math.log(7), 0.0], [0, 1])["dlogits"], [-0.375, 0.375, 0.4375, -0.4375], "dlogits")


@T.test(1, "large logits", "logits of 1000, and of -1000", hint="Subtract the row's largest logit before exp, also where tokens are drawn.")
def _(t):
    found = loss(t, [1000.0, 0.0, -1000.0, -1000.0], [0, 1])
    t.close(found["loss"], [math.log(2) / 2], "loss", 1e-4)  # a float of 1000.7 has 4 digits behind the point
    t.close(found["dlogits"], [0.0, 0.0, 0.25, -0.25], "dlogits")
    t.close(loss(t, [200.0, 0.0], [1])["loss"], [200.0], "loss, where no float is as small as the probability")
    for each in (1000.0, -1000.0):
        t.equal(write(t, [each] * 4, [0], 2, 1.0, [0.25, 0.75])["written"], [0, 1], "text, where both tokens have the same chance")


@T.test(3, "pieces", "pieces begin where next() says, and the target is the token after each",
        hint="A text of N tokens has N - window places where a piece and the token after it fit.")
def _(t):
    text = [0, 1, 2, 3, 4, 5]
    flat = [0.0] * 36
    found = train(t, text, flat, 2, pieces=3, random=[0.0, 0.5, 0.99])
    t.equal(found["seen"], [0, 1, 2, 3, 3, 4], "tokens that forward got")
    t.equal(train(t, text, flat, 5, pieces=2, random=[0.0, 0.9])["seen"], [0, 1, 2, 3, 4] * 2, "tokens that forward got")
    found = train(t, text, flat, 2, steps=2, random=[0.25, 0.75])
    t.equal(found["seen"], [1, 2, 3, 4], "tokens that forward got in two steps")
    t.equal(found["calls"], [2], "calls of next()")
    model = train(t, text, flat, 2, random=[0.25], lr=6.0)["model"]
    for i, follows in ((1, 2), (2, 3)):  # the token after i gained, all others lost
        t.close(model[6 * i:6 * i + 6], [2.5 if j == follows else -0.5 for j in range(6)], f"logits after token {i}")


@T.test(2, "steps", "zero_grad, forward, backward, step, and the loss of each step", hint="backward adds to the gradients: clear them first.")
def _(t):
    for steps in (1, 3):
        found = train(t, [0, 1, 0, 1], [0.0] * 4, 1, pieces=2, steps=steps, random=[0.0, 0.5], lr=1.0)
        t.equal(found["events"], "zfbs" * steps, "calls of the model")
        t.check(len(found["losses"]) == steps, f"there are {len(found['losses'])} losses, expected {steps}")
        t.close(found["losses"][0], math.log(2), "loss of the first step")
    t.check(found["losses"][2] < found["losses"][1] < found["losses"][0], "the loss does not fall")


@T.test(2, "learns", "it learns a text, and goes on with it", hint="Each token that was written is read for the next one.")
def _(t):
    text = [0, 2, 1, 3] * 5
    found = train(t, text, [0.0] * 16, 4, pieces=2, steps=40, random=t.floats(7, 0, 0.99), lr=4.0, prompt=[2], count=9, temperature=0.0)
    t.check(found["losses"][-1] < 0.1, f"the loss after 40 steps is {found['losses'][-1]:g}")
    t.equal(found["written"], [1, 3, 0, 2, 1, 3, 0, 2, 1], "text after 2")


@T.test(1, "window", "no more than the last window() tokens are read", hint="Of a long text the model sees its end.")
def _(t):
    found = write(t, [0.0, 1.0, 1.0, 0.0], [0, 1, 0], 3, window=4)
    t.equal(found["written"], [1, 0, 1], "text")
    t.equal(found["lengths"], [3, 4, 4], "tokens that forward got")
    t.equal(found["read"], [0, 1, 0] + [0, 1, 0, 1] + [1, 0, 1, 0], "tokens that forward got")
    found = write(t, [0.0, 1.0, 1.0, 0.0], [0, 0, 0, 0, 0, 1, 0], 2, window=3)
    t.equal(found["read"], [0, 1, 0] + [1, 0, 1], "tokens that forward got, of a prompt of 7 tokens and a window of 3")


@T.test(2, "draws", "tokens by their probabilities", hint="Go along the probabilities until their sum exceeds next(); divide logits by the temperature first.")
def _(t):
    logits = [math.log(each) for each in (2, 1, 1)] * 3
    found = write(t, logits, [0], 5, 1.0, [0.0, 0.49, 0.51, 0.74, 0.76])
    t.equal(found["written"], [0, 0, 1, 1, 2], "text")
    t.equal(found["drawn"], [5], "calls of next()")
    t.equal(write(t, [0.0] * 4, [0], 2, 1.0, [0.0, 0.5])["written"], [0, 1], "text, where next() is the first probability")
    for n in (12, 41):  # n floats of 1 / n sum to less than the largest float below 1
        t.equal(write(t, [0.25] * (n * n), [0], 1, 1.0, [1 - 2 ** -24])["written"], [n - 1], f"text, where next() is just below 1 and {n} tokens have the same chance")
    t.equal(write(t, logits, [0], 3, 0.5, [0.6, 0.7, 0.9])["written"], [0, 1, 2], "text at temperature 0.5 (4, 1, 1)")
    found = write(t, [0.5, 0.5, 0.25] * 3, [2], 2)
    t.equal(found["written"], [0, 0], "text at temperature 0, where two logits are the largest")
    t.equal(found["drawn"], [0], "calls of next() at temperature 0")
    for temperature in (1e-37, 2e-39):  # no float is as large as 1 / 2e-39
        t.equal(write(t, [400.0, 500.0, 400.0] * 3, [2], 2, temperature, [0.25, 0.75])["written"], [1, 1], f"text at temperature {temperature:g}")
    t.equal(write(t, [-3000.0, -2000.0, -2500.0] * 3, [0], 2)["written"], [1, 1], "text at temperature 0, where all logits are far below 0")
