"""Tests of task 8.2. A decoder is its table of tokens, its places, and a matrix for each step of a layer (row times matrix)."""
import math

from judge.testing import task

T = task("8.2", "A cache of keys and values", 20, "8_language/8.2_cache.cpp", exports=["course::attend", "course::generate"], extra=True)


def attend(t, q, k, v, pieces, heads=1, d=1, cached_k=(), cached_v=()):
    """Attention of the rows of q, k and v, so many of them at a time."""
    return t.run(q=q, k=k, v=v, pieces=pieces, heads=heads, d=d, cached_k=list(cached_k), cached_v=list(cached_v))


def scaled(n, factor=1.0):
    """A matrix (n, n) that multiplies by a factor."""
    return [factor if i == j else 0.0 for i in range(n) for j in range(n)]


def generate(t, prompt, count, table, head, width, places=None, layers=1, heads=1, **weights):
    """width: numbers of a row. weights: wq, wk, wv, wo of all layers, one after the other; 0 where they are left out."""
    zeros = [0.0] * (layers * width * width)
    length = len(prompt) + count
    return t.run(prompt=prompt, count=count, heads=heads, d=width // heads, layers=layers, table=table, places=places or [0.0] * (length * width), head=head,
                 **{name: weights.get(name, zeros) for name in ("wq", "wk", "wv", "wo")})


def following(t, follows, prompt, count, layers=1, places=None):
    """A text in which token a is followed by follows[a]: attention counts nothing."""
    n = len(follows)
    head = [1.0 if j == each else 0.0 for each in follows for j in range(n)]
    return generate(t, prompt, count, scaled(n), head, n, places, layers)


def rarest(t, n, prompt, count, layers=1):
    """A text of n kinds of tokens, in which the rarest token so far is next: attention is the mean of all rows, and counts against them.
    Returns (what was written, what is expected)."""
    table = [(1.0 if i == j else 0.0) + j / 64 for i in range(n) for j in range(n)]
    found = generate(t, prompt, count, table, scaled(n), n, layers=layers, wv=scaled(n) * layers,
                     wo=[0.0] * (n * n * (layers - 1)) + scaled(n, -64.0))
    text = list(prompt)
    for _ in range(count):
        scores = [(text[-1] == j) + j / 64 - 64 * (text.count(j) / len(text) + j / 64) for j in range(n)]
        text.append(scores.index(max(scores)))
    return found["written"], text[len(prompt):]


@T.test(3, "attention", "rows see what was in the cache, and the new rows up to themselves",
        hint="Row i of the new ones sees as many rows as the cache had, and i + 1 more. Divide the product of two rows by sqrt(d).")
def _(t):
    three = math.log(3)
    t.close(attend(t, [1.0], [0.5], [4.5], [1])["out"], [4.5], "out")
    t.close(attend(t, [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [3.0, 6.0, 12.0], [3])["out"], [3.0, 4.5, 7.0], "out, where all scores are 0")
    t.close(attend(t, [1.0], [three], [8.0], [1], cached_k=[0.0], cached_v=[4.0])["out"], [7.0], "out, with a row in the cache")
    t.close(attend(t, [1.0, 1.0], [three, 0.0], [8.0, 5.0], [2], cached_k=[0.0], cached_v=[4.0])["out"], [7.0, 6.6], "out, with a row in the cache")
    q, k = [2.0, 0.0, 0.0, 0.0], [three, 0.0, 0.0, 0.0]
    t.close(attend(t, q, k, [8.0, 0.0, 1.0, 2.0], [1], d=4, cached_k=[0.0] * 4, cached_v=[4.0, 4.0, 1.0, -2.0])["out"], [7.0, 1.0, 1.0, 1.0], "out with d = 4")
    found = attend(t, [1.0, 0.0], [three * math.sqrt(2), 5.0], [8.0, 0.0], [1], d=2, cached_k=[0.0] * 2, cached_v=[4.0, 4.0])["out"]
    t.close(found, [7.0, 1.0], "out with d = 2")


@T.test(2, "cache", "keys and values go behind those in the cache", hint="The cache has a row for each token that was read, in the order of the text.")
def _(t):
    k, v = t.quarters(12), t.quarters(12)
    for pieces in ([6], [1, 2, 3]):
        found = attend(t, t.quarters(12), k, v, pieces, d=2, cached_k=[0.5, 0.25], cached_v=[1.5, 1.25])
        t.equal(found["k"], [0.5, 0.25] + k, "keys in the cache")
        t.equal(found["v"], [1.5, 1.25] + v, "values in the cache")
    old = t.quarters(1100)
    found = attend(t, [0.0], [1.0], [2.5], [1], cached_k=[0.5] * 1100, cached_v=old)
    t.equal(found["v"], old + [2.5], "values in the cache")
    t.close(found["out"], [(math.fsum(old) + 2.5) / 1101], "out behind 1100 rows, where all scores are 0", 1e-4)


@T.test(2, "heads", "heads know nothing of each other", hint="Head h has the numbers h * d to h * d + d - 1 of each row.")
def _(t):
    n, heads, d = 4, 3, 2
    q, k, v = (t.floats(n * heads * d, -2, 2) for _ in range(3))
    together = attend(t, q, k, v, [3, 1], heads, d)["out"]
    for h in range(heads):
        def of_head(x):
            return [x[i * heads * d + h * d + e] for i in range(n) for e in range(d)]
        alone = attend(t, of_head(q), of_head(k), of_head(v), [3, 1], 1, d)["out"]
        t.close(of_head(together), alone, f"out of head {h}")


@T.test(1, "large", "scores from -2000 to 2000", hint="Subtract the largest score of the row before exp.")
def _(t):
    for high in (300.0, 1000.0):  # exp(1000) is infinite in double, too
        t.close(attend(t, [high], [2.0], [8.0], [1], cached_k=[1.0], cached_v=[4.0])["out"], [8.0], f"out, with scores of {high:g} and {2 * high:g}")
        t.close(attend(t, [-high], [2.0], [8.0], [1], cached_k=[2.0], cached_v=[4.0])["out"], [6.0], f"out, with scores of {-2 * high:g}", 1e-3)


@T.test(3, "pieces", "rows that come in pieces get what they get together", hint="A row sees the same rows, whether they came with it or before it.")
def _(t):
    n, heads, d = 9, 2, 3
    q, k, v = (t.floats(n * heads * d, -2, 2) for _ in range(3))
    whole = attend(t, q, k, v, [n], heads, d)["out"]
    for pieces in ([1] * n, [4, 5], [2, 6, 1], [8, 1]):
        t.close(attend(t, q, k, v, pieces, heads, d)["out"], whole, f"out in pieces of {', '.join(map(str, pieces))} rows")


@T.test(3, "text", "a text that goes on: each token that was written is read for the next one", hint="A new token's row is alone in its piece; the cache has all others. Each layer has a cache of its own.")
def _(t):
    t.equal(following(t, [2, 0, 1], [0], 4)["written"], [2, 1, 0, 2], "text, where 2 follows 0, 1 follows 2, and 0 follows 1")
    t.equal(following(t, [2, 0, 1], [0, 0, 1], 2, layers=3)["written"], [0, 2], "text, by three layers")
    t.equal(following(t, [1, 1], [0], 0)["written"], [], "text of no token")
    flat = generate(t, [1], 2, [0.0] * 4, [0.0] * 4, 2)
    t.equal(flat["written"], [0, 0], "text, where all logits are equal")
    low = generate(t, [1], 2, [1.0] * 3, [-3000.0, -2000.0, -2500.0], 1)
    t.equal(low["written"], [1, 1], "text, where all logits are far below 0")
    for n, prompt, count in ((3, [0, 0, 1], 5), (4, [3], 9)):
        for layers in (1, 2):
            found, expected = rarest(t, n, prompt, count, layers)
            t.equal(found, expected, f"text by {layers} layers, where the rarest token so far is next")


@T.test(1, "places", "each token stands at its place in the text", hint="The first token that is written stands behind the prompt.")
def _(t):
    places = [4.0 if place % 4 == token else 0.0 for place in range(11) for token in range(4)]
    t.equal(following(t, [0, 1, 2, 3], [1, 1], 6, places=places)["written"], [1, 2, 3, 0, 1, 2], "text, where the place decides")


def counted(t, prompt, count, width=12, layers=2, vocabulary=10):
    matrices = {name: t.floats(layers * width * width, -0.5, 0.5) for name in ("wq", "wk", "wv", "wo")}
    return generate(t, [t.random.randrange(vocabulary) for _ in range(prompt)], count, t.floats(vocabulary * width), t.floats(width * vocabulary), width,
                    t.floats((prompt + count) * width), layers, heads=3, **matrices)


@T.test(4, "products", "each token goes through the layers once, and one row for each new token through the logits",
        hint="What the layers gave for earlier tokens never changes: all that a later token needs of it is in the caches. The last token that is written is not read.")
def _(t):
    for prompt, count in ((1, 2), (3, 4), (7, 20)):
        width, layers, vocabulary = 36, 2, 10
        found = counted(t, prompt, count, width, layers, vocabulary)
        rows = prompt + count - 1
        t.at_most(found["products"][0], rows * layers * 4 * width * width + count * width * vocabulary,
                  f"products for a prompt of {prompt} and {count} new tokens (in project() {found['projected'][0]} rows, in finish() {found['finished'][0]}, in logits() "
                  f"{found['predicted'][0]})")


@T.test(1, "one call", "the tokens of the prompt go through a layer together", hint="A call of project() reads all weights of the layer, for one row as for many.")
def _(t):
    for prompt, count in ((2, 1), (30, 3)):
        found = counted(t, prompt, count)
        t.at_most(found["projections"][0], 2 * count, f"calls of project() for two layers, a prompt of {prompt} and {count} new tokens")
