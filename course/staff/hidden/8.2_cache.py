"""Hidden tests of task 8.2."""
import math

from judge.testing import hidden, public


def attention(q, k, v, heads, d):
    """Causal attention of all rows at once."""
    width, out = heads * d, []
    for i in range(len(q) // width):
        for h in range(0, width, d):
            scores = [sum(q[i * width + h + e] * k[j * width + h + e] for e in range(d)) / math.sqrt(d) for j in range(i + 1)]
            terms = [math.exp(each - max(scores)) for each in scores]
            out += [sum(term * v[j * width + h + e] for j, term in enumerate(terms)) / sum(terms) for e in range(d)]
    return out


def times(x, w, width, columns, at=0):
    return [sum(x[i + e] * w[at + e * columns + c] for e in range(width)) for i in range(0, len(x), width) for c in range(columns)]


def text_of(prompt, count, heads, d, layers, table, places, wq, wk, wv, wo, head):
    """What a decoder writes that computes all tokens again for each new one, up to where two logits are too close to call."""
    width, tokens = heads * d, list(prompt)
    for _ in range(count):
        x = [table[token * width + e] + places[i * width + e] for i, token in enumerate(tokens) for e in range(width)]
        for layer in range(layers):
            at = layer * width * width
            of = attention(*(times(x, w, width, width, at) for w in (wq, wk, wv)), heads, d)
            x = [a + b for a, b in zip(x, times(of, wo, width, width, at))]
        logits = times(x[-width:], head, width, len(head) // width)
        if sorted(logits)[-1] - sorted(logits)[-2] < 1e-3:
            break
        tokens.append(logits.index(max(logits)))
    return tokens[len(prompt):]


@hidden("8.2", of="attention", test="random rows", title="random rows behind random rows", hint="Try random numbers, a cache of several rows, and d = 5.")
def _(t):
    for before, n, heads, d in [(0, 5, 1, 5), (7, 1, 1, 3), (4, 6, 2, 4), (0, 90, 1, 2), (130, 3, 5, 1), (3, 2, 1, 300)]:
        width = heads * d
        q, k, v = (t.floats((before + n) * width, -2, 2) for _ in range(3))
        found = public("8.2").attend(t, q[before * width:], k[before * width:], v[before * width:], [n], heads, d, k[:before * width], v[:before * width])
        t.close(found["out"], attention(q, k, v, heads, d)[before * width:], "out", 1e-4)


@hidden("8.2", of="cache", test="random caches", title="caches after random pieces", hint="The cache has a row for each token that was read.")
def _(t):
    for heads, d in ((1, 1), (3, 5), (2, 64)):
        pieces = [t.random.randint(1, 9) for _ in range(4)]
        size, before = sum(pieces) * heads * d, t.random.randint(0, 3) * heads * d
        k, v, old_k, old_v = t.quarters(size), t.quarters(size), t.quarters(before), t.quarters(before)
        found = public("8.2").attend(t, t.quarters(size), k, v, pieces, heads, d, old_k, old_v)
        t.equal(found["k"], old_k + k, "keys in the cache")
        t.equal(found["v"], old_v + v, "values in the cache")


@hidden("8.2", of="cache", test="a long cache", title="rows behind 5,000 others", hint="The cache has a row for each token that was read, however many these are.")
def _(t):
    old, new = t.quarters(5000), t.quarters(3)
    found = public("8.2").attend(t, [0.0] * 3, [1.0] * 3, new, [2, 1], cached_k=[0.5] * 5000, cached_v=old)
    t.equal(found["k"], [0.5] * 5000 + [1.0] * 3, "keys in the cache")
    t.equal(found["v"], old + new, "values in the cache")
    t.close(found["out"], [math.fsum(old + new[:i]) / (5000 + i) for i in (1, 2, 3)], "out, where all scores are 0", 1e-4)


@hidden("8.2", of="heads", test="random heads", title="up to 300 heads", hint="Head h has the numbers h * d to h * d + d - 1 of each row.")
def _(t):
    for heads, d, n in ((2, 3, 5), (12, 1, 4), (5, 7, 3), (300, 2, 2)):
        q, k, v = (t.floats(n * heads * d, -2, 2) for _ in range(3))
        t.close(public("8.2").attend(t, q, k, v, [n - 1, 1], heads, d)["out"], attention(q, k, v, heads, d), "out", 1e-4)


@hidden("8.2", of="large", test="other large scores", title="scores around 2000, -2000 and -1,000,000", hint="Subtract the largest score of the row before exp.")
def _(t):
    # Weights may be exp(score - lse). The lse of scores around -1,000,000 is rounded to 1/16, so weights are 3% off.
    for middle, tolerance in ((2000.0, 2e-4), (-2000.0, 2e-4), (-1e6, 0.05)):
        found = public("8.2").attend(t, [1.0, 1.0], [middle + 1, middle], [8.0, 16.0], [2], cached_k=[middle], cached_v=[4.0])["out"]
        e = math.e
        t.close(found, [(4 + 8 * e) / (1 + e), (4 + 8 * e + 16) / (2 + e)], "out", tolerance)


@hidden("8.2", of="pieces", test="random pieces", title="300 rows in random pieces", hint="A row sees the same rows, whether they came with it or before it.")
def _(t):
    heads, d, pieces = 2, 2, []
    while sum(pieces) < 300:
        pieces.append(t.random.randint(1, 70))
    n = sum(pieces)
    q, k, v = (t.floats(n * heads * d, -2, 2) for _ in range(3))
    t.close(public("8.2").attend(t, q, k, v, pieces, heads, d)["out"], attention(q, k, v, heads, d), "out", 1e-4)


@hidden("8.2", of="text", test="random decoders", title="texts of decoders of random weights", hint="Each layer has a cache of its own; a token that was written is read for the next one.")
def _(t):
    for heads, d, layers, prompt, count in [(1, 3, 1, 1, 6), (2, 4, 2, 5, 8), (3, 2, 4, 9, 5)]:
        width, vocabulary = heads * d, 7
        decoder = {"table": t.floats(vocabulary * width, -2, 2), "places": t.floats((prompt + count) * width), "head": t.floats(width * vocabulary),
                   **{name: t.floats(layers * width * width) for name in ("wq", "wk", "wv", "wo")}}
        tokens = [t.random.randrange(vocabulary) for _ in range(prompt)]
        expected = text_of(tokens, count, heads, d, layers, **decoder)
        found = t.run(prompt=tokens, count=count, heads=heads, d=d, layers=layers, **decoder)["written"]
        t.equal(found[:len(expected)], expected, "text")
        t.check(len(found) == count, f"text: found {len(found)} tokens, expected {count}")


@hidden("8.2", of="text", test="many layers", title="texts of decoders of 33 layers", hint="Each layer has a cache of its own, however many there are.")
def _(t):
    width, layers, prompt, count, vocabulary = 4, 33, 3, 5, 7
    decoder = {"table": t.floats(vocabulary * width, -2, 2), "places": t.floats((prompt + count) * width), "head": t.floats(width * vocabulary),
               **{name: t.floats(layers * width * width, -size, size) for name, size in (("wq", 0.5), ("wk", 0.5), ("wv", 0.5), ("wo", 0.25))}}
    expected = text_of([1, 2, 3], count, 2, 2, layers, **decoder)
    found = t.run(prompt=[1, 2, 3], count=count, heads=2, d=2, layers=layers, **decoder)["written"]
    t.equal(found[:len(expected)], expected, "text")


@hidden("8.2", of="text", test="a long text", title="200 new tokens of 40 kinds", hint="Nothing limits the vocabulary or the text.")
def _(t):
    t.equal(public("8.2").following(t, [(each + 1) % 40 for each in range(40)], [5], 200)["written"], [(6 + i) % 40 for i in range(200)], "text")


@hidden("8.2", of="text", test="a large vocabulary", title="a vocabulary of 70,000, and logits below 0", hint="A token is an int. The largest logit may be below 0.")
def _(t):
    n = 70000
    found = public("8.2").generate(t, [n - 1], 3, [1.0] * n, [-1.0 if j == n - 2 else -2.0 for j in range(n)], 1)["written"]
    t.equal(found, [n - 2] * 3, "text")
    found = public("8.2").generate(t, [1], 2, [1.0] * 3, [-3e38, -2e38, -1e38], 1)["written"]
    t.equal(found, [2, 2], "text, where all logits are below -10^37")


@hidden("8.2", of="places", test="places of a longer text", title="places of a text of 90 tokens", hint="The first token that is written stands behind the prompt.")
def _(t):
    at = [t.random.randrange(5) for _ in range(90)]
    places = [4.0 if at[place] == token else 0.0 for place in range(90) for token in range(5)]
    prompt = t.random.randint(1, 40)
    t.equal(public("8.2").following(t, [0, 1, 2, 3, 4], [3] * prompt, 90 - prompt, places=places)["written"], at[prompt - 1:-1], "text, where the place decides")


@hidden("8.2", of="products", test="products of other sizes", title="products of other layers and lengths", hint="Each token goes through the layers once.")
def _(t):
    for prompt, count, width, layers, vocabulary in ((2, 3, 48, 1, 5), (12, 9, 24, 3, 40), (1, 1, 12, 2, 9)):
        found = public("8.2").counted(t, prompt, count, width, layers, vocabulary)
        t.at_most(found["products"][0], (prompt + count - 1) * layers * 4 * width * width + count * width * vocabulary,
                  f"products for a prompt of {prompt} and {count} new tokens")


@hidden("8.2", of="one call", test="calls of other sizes", title="calls of project() for other prompts", hint="The tokens of the prompt go through a layer together.")
def _(t):
    for prompt, count, layers in ((9, 4, 1), (50, 1, 3)):
        found = public("8.2").counted(t, prompt, count, layers=layers)
        t.at_most(found["projections"][0], layers * count, f"calls of project() for {layers} layers, a prompt of {prompt} and {count} new tokens")
