"""Hidden tests of task 7.6."""
import math

from judge.testing import hidden


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
    found = t.run(logits=[-1000.0, 0.0, 0.0] * 3, prompt=[0], count=2, temperature=1.0, random=[0.0], window=2, lr=0.0)
    t.equal(found["written"], [1, 1], "text, where the first token has no chance")


@hidden("7.6", of="window", test="a long text", title="300 tokens after 3000, at temperature 0", hint="Nothing limits the prompt or the vocabulary.")
def _(t):
    follows = [(7 * i + 3) % 300 for i in range(300)]
    expected = [5]
    for _ in range(300):
        expected.append(follows[expected[-1]])
    logits = [4.5 if j == each else each / 600 for each in follows for j in range(300)]
    found = t.run(logits=logits, prompt=[i % 300 for i in range(2999)] + [5], count=300, temperature=0.0, random=[0.5], window=2, lr=0.0)
    t.equal(found["written"], expected[1:], "text")
    t.equal(found["drawn"], [0], "calls of next(): with temperature 0 nothing is drawn")
