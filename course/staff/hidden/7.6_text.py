"""Hidden tests of task 7.6."""
import math

from judge.testing import hidden, public


@hidden("7.6", of="loss", test="random logits", title="random logits of many rows", hint="Both are means over the rows.")
def _(t):
    for rows, width in [(1, 3), (7, 5), (300, 40), (3, 1100), (2003, 2)]:
        logits, targets = t.floats(rows * width, -4, 4), [t.random.randrange(width) for _ in range(rows)]
        total, slopes = 0.0, []
        for r, target in enumerate(targets):
            terms = [math.exp(each) for each in logits[r * width:r * width + width]]
            total -= math.log(terms[target] / sum(terms))
            slopes += [(term / sum(terms) - (i == target)) / rows for i, term in enumerate(terms)]
        found = t.run(logits=logits, targets=targets)
        t.close(found["loss"], [total / rows], "loss")
        t.close(found["dlogits"], slopes, "dlogits")


@hidden("7.6", of="pieces", test="random pieces", title="random texts, windows and pieces", hint="A piece begins at long(next() * (N - window)).")
def _(t):
    for window, pieces, steps in [(1, 4, 2), (3, 1, 5), (16, 5, 2), (300, 2, 3)]:
        text = [t.random.randrange(5) for _ in range(window + 1 + t.random.randint(0, 30) * window)]
        random = [each / 64 for each in (t.random.randrange(64) for _ in range(pieces * steps))]
        starts = [int(each * (len(text) - window)) for each in random]
        found = t.run(text=text, logits=[0.0] * 25, window=window, pieces=pieces, steps=steps, random=random, lr=0.0)
        t.equal(found["seen"], [each for start in starts for each in text[start:start + window]], "tokens that forward got")
        t.equal(found["calls"], [pieces * steps], "calls of next()")
        found = t.run(text=text, logits=[0.0] * 25, window=window, pieces=pieces, steps=1, random=random, lr=1.0)
        expected, rows = [0.0] * 25, pieces * window
        for start in starts[:pieces]:
            for i in range(start, start + window):
                for j in range(5):
                    expected[5 * text[i] + j] -= (0.2 - (j == text[i + 1])) / rows
        t.close(found["model"], expected, "the model after one step")


@hidden("7.6", of="draws", test="long texts", title="60 tokens at several temperatures", hint="Each token is drawn once, from the logits of the last one.")
def _(t):
    logits = t.floats(16, -2, 2)
    for temperature in (0.25, 1.0, 3.0):
        random, at, expected = t.floats(60, 0, 0.999), 2, []
        for each in random:
            terms = [math.exp(logit / temperature) for logit in logits[4 * at:4 * at + 4]]
            sums = [sum(terms[:i + 1]) / sum(terms) for i in range(4)]
            if min(abs(each - one) for one in sums) < 1e-4:
                return  # too close to call
            at = next(i for i, one in enumerate(sums) if one > each)
            expected.append(at)
        found = t.run(logits=logits, prompt=[1, 2], count=60, temperature=temperature, random=random, window=3, lr=0.0)
        t.equal(found["written"], expected, "text")
        t.equal(found["drawn"], [60], "calls of next()")


@hidden("7.6", of="window", test="nothing to write", title="no token, and logits of 1000", hint="Subtract the largest logit before exp, also where tokens are drawn.")
def _(t):
    t.equal(t.run(logits=[0.0] * 4, prompt=[1], count=0, temperature=1.0, random=[0.5], window=2, lr=0.0)["written"], [], "text")
    found = t.run(logits=[1000.0, 0.0, -1000.0, -1000.0], prompt=[0], count=3, temperature=0.5, random=[0.5, 0.25, 0.75], window=2, lr=0.0)
    t.equal(found["written"], [0, 0, 0], "text")


@hidden("7.6", of="draws", test="many tokens", title="300 tokens of the same chance, and one of none", hint="The first sum above next(), or else the last token: also where next() is 0, or just below 1.")
def _(t):
    at = [137, 0, 299, 255, 64]
    found = t.run(logits=[0.25] * 90000, prompt=[1], count=5, temperature=1.0, random=[(each + 0.5) / 300 for each in at], window=2, lr=0.0)
    t.equal(found["written"], at, "text")
    found = t.run(logits=[0.25] * 90000, prompt=[1], count=2, temperature=1.0, random=[1 - 2 ** -24], window=2, lr=0.0)
    t.equal(found["written"], [299, 299], "text, where next() is just below 1")
    for n in (19, 27, 100):
        found = public("7.6").write(t, [-2.0] * (n * n), [n - 1], 1, 1.0, [1 - 2 ** -24])["written"]
        t.equal(found, [n - 1], f"text, where next() is just below 1 and {n} tokens have the same chance")
    found = t.run(logits=[-1000.0, 0.0, 0.0] * 3, prompt=[0], count=2, temperature=1.0, random=[0.0], window=2, lr=0.0)
    t.equal(found["written"], [1, 1], "text, where the first token has no chance")


@hidden("7.6", of="window", test="a long text", title="300 tokens after 70,000, at temperature 0", hint="Nothing limits the prompt or the vocabulary.")
def _(t):
    follows = [(7 * i + 3) % 300 for i in range(300)]
    expected = [5]
    for _ in range(300):
        expected.append(follows[expected[-1]])
    logits = [4.5 if j == each else each / 600 for each in follows for j in range(300)]
    found = t.run(logits=logits, prompt=[i % 300 for i in range(69999)] + [5], count=300, temperature=0.0, random=[0.5], window=2, lr=0.0)
    t.equal(found["written"], expected[1:], "text")
    t.equal(found["drawn"], [0], "calls of next(): with temperature 0 nothing is drawn")


@hidden("7.6", of="gradient", test="rows of the gradient", title="the gradient of rows of other lengths", hint="softmax(logits), less 1 at the target, divided by the rows.")
def _(t):
    for rows, width in [(1, 7), (4, 3), (9, 300)]:
        ratios, targets = [t.random.randint(1, 9) for _ in range(width)], [t.random.randrange(width) for _ in range(rows)]
        found = t.run(logits=[math.log(each) for each in ratios] * rows, targets=targets)["dlogits"]
        t.close(found, [(each / sum(ratios) - (j == target)) / rows for target in targets for j, each in enumerate(ratios)], "dlogits")


@hidden("7.6", of="large logits", test="other large logits", title="logits around 5000 and -20,000", hint="Subtract the row's largest logit before exp.")
def _(t):
    for middle in (5000.0, -20000.0):
        found = t.run(logits=[middle, middle + 1, middle - 600], targets=[2])
        t.close(found["loss"], [601 + math.log(1 + math.exp(-1))], "loss", 1e-4)
        t.close(found["dlogits"], [1 / (1 + math.e), math.e / (1 + math.e), -1.0], "dlogits", 2e-3)  # a float of 20,000 has 3 digits behind the point


@hidden("7.6", of="steps", test="more steps", title="calls of the model and losses of 5 and of 17 steps", hint="backward adds to the gradients: clear them first.")
def _(t):
    for steps in (5, 17):
        found = public("7.6").train(t, [0, 1, 2] * 4, [0.0] * 9, 2, pieces=3, steps=steps, random=[0.0, 0.5, 0.25], lr=1.0)
        t.equal(found["events"], "zfbs" * steps, "calls of the model")
        t.check(len(found["losses"]) == steps, f"there are {len(found['losses'])} losses, expected {steps}")
        t.close(found["losses"][0], math.log(3), "loss of the first step")


@hidden("7.6", of="learns", test="learns another text", title="a text of 7 tokens", hint="Each token that was written is read for the next one.")
def _(t):
    order = list(range(7))
    t.random.shuffle(order)
    found = public("7.6").train(t, order * 4, [0.0] * 49, 6, pieces=3, steps=60, random=t.floats(11, 0, 0.99), lr=6.0, prompt=order[:1], count=20, temperature=0.0)
    t.check(found["losses"][-1] < 0.2, f"the loss after 60 steps is {found['losses'][-1]:g}")
    t.equal(found["written"], (order * 4)[1:21], f"text after {order[0]}")


@hidden("7.6", of="window", test="wide windows", title="windows of 1 to 3,000 tokens", hint="Of a long text the model sees its end: as much as fits, and all of what fits.")
def _(t):
    for window, given in ((1, 30), (20, 30), (500, 30), (500, 700), (3000, 3500)):
        prompt = [t.random.randrange(3) for _ in range(given)]
        found = public("7.6").write(t, [0.0, 1.0, 0.5] * 3, prompt, 4, window=window)
        text = prompt + found["written"]
        t.equal(found["read"], [each for i in range(given, given + 4) for each in text[max(0, i - window):i]], "tokens that forward got")


@hidden("7.6", of="draws", test="temperatures between", title="temperatures of 0.75 and 1.5", hint="A temperature is no whole number.")
def _(t):
    logits = [math.log(each) for each in (16, 4, 1)] * 3
    for temperature, random in ((0.75, [0.82, 0.84, 0.97, 0.99]), (1.5, [0.64, 0.66, 0.88, 0.93])):
        terms = [each ** (1 / temperature) for each in (16, 4, 1)]
        sums = [sum(terms[:i + 1]) / sum(terms) for i in range(3)]
        t.equal(public("7.6").write(t, logits, [0], 4, temperature, random)["written"], [next(i for i, each in enumerate(sums) if each > r) for r in random],
                f"text at temperature {temperature}")


@hidden("7.6", of="draws", test="small temperatures", title="temperatures near 0", hint="Subtract the largest logit, then divide by the temperature. Only 0 itself draws nothing.")
def _(t):
    found = public("7.6").write(t, [math.log(each) / 1000 for each in (1, 3, 4)] * 3, [0], 3, 0.001, [0.1, 0.4, 0.6])
    t.equal(found["written"], [0, 1, 2], "text at temperature 0.001")
    t.equal(found["drawn"], [3], "calls of next()")
    t.equal(public("7.6").write(t, [400.0, 500.0, -500.0] * 3, [0], 2, 1e-36, [0.25, 0.75])["written"], [1, 1], "text at temperature 1e-36")
    for temperature in (2e-39, 1e-44):
        t.equal(public("7.6").write(t, [0.0, 1.0, 0.5] * 3, [0], 2, temperature, [0.0, 0.75])["written"], [1, 1], f"text at temperature {temperature:g}")


@hidden("7.6", of="pieces", test="pieces of a long text", title="a text of 70,000 tokens", hint="A place in the text is a long.")
def _(t):
    text = [t.random.randrange(3) for _ in range(70000)]
    random = [0.0, 0.5, 0.75, 0.96875]
    found = t.run(text=text, logits=[0.0] * 9, window=2, pieces=4, steps=1, random=random, lr=0.0)
    t.equal(found["seen"], [each for r in random for each in text[int(r * 69998):int(r * 69998) + 2]], "tokens that forward got")


@hidden("7.6", of="draws", test="a large vocabulary", title="a vocabulary of 70,000", hint="A token is an int.")
def _(t):
    n = 70000
    for temperature, calls in ((0.0, 0), (1.0, 3)):
        found = t.run(logits=[50.0 if j == n - 2 else 0.0 for j in range(n)], vocabulary=n, prompt=[n - 1, 40000], count=3, temperature=temperature,
                      random=[0.5], window=4, lr=0.0)
        t.equal(found["written"], [n - 2] * 3, f"text at temperature {temperature:g}")
        t.equal(found["read"], [n - 1, 40000] + [n - 1, 40000, n - 2] + [n - 1, 40000, n - 2, n - 2], "tokens that forward got")
        t.equal(found["drawn"], [calls], "calls of next()")


@hidden("7.6", of="pieces", test="pieces of a large vocabulary", title="a text of tokens above 32,767", hint="A token is an int.")
def _(t):
    n, text = 70000, [40000, 69999, 5, 33000]
    found = t.run(text=text, logits=[0.0] * n, vocabulary=n, window=3, pieces=1, steps=1, random=[0.0], lr=float(n))
    t.equal(found["seen"], text[:3], "tokens that forward got")
    model = found["model"]
    t.close([model[each] for each in (*text, 6)], [-1.0, *[n / 3 - 1] * 3, -1.0], "logits of the tokens of the text, and of another one, after a step")
