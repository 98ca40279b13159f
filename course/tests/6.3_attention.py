"""Tests of task 6.3. Where v picks single keys, the output is the weights that attention gives them."""
import math

from judge.testing import task

T = task("6.3", "Attention by tiles", 25, "6_extra/6.3_attention.cu", exports=["course::gpu::attention"], extra=True)


def attention(t, q, k, v, n, d, causal):
    return t.run(q=q, k=k, v=v, n=n, d=d, causal=int(causal))


def weights(t, q, k, n, d, causal):
    """The (n, n) weights of a softmax: column j of the output is the weight of key start + j, for several starts."""
    out = [[] for _ in range(n)]
    for start in range(0, n, d):
        v = [1.0 if row - start == column else 0.0 for row in range(n) for column in range(d)]
        part = attention(t, q, k, v, n, d, causal)["out"]
        for i in range(n):
            out[i] += part[i * d:i * d + min(d, n - start)]
    return out


def weights_hold(t, q, k, n, d, causal=False):
    """Weights of a row sum to 1, and their ratios are those of exp(score)."""
    for i, row in enumerate(weights(t, q, k, n, d, causal)):
        seen = i + 1 if causal else n
        scores = [sum(q[i * d + e] * k[j * d + e] for e in range(d)) / math.sqrt(d) for j in range(seen)]
        t.close(math.fsum(row), 1.0, f"the sum of the weights of query {i}", 1e-4)
        top = scores.index(max(scores))
        for j in range(n):
            expected = row[top] * math.exp(scores[j] - scores[top]) if j < seen else 0.0
            if not abs(row[j] - expected) <= 1e-4 * max(expected, 1e-3):
                t.fail(f"query {i} gives key {j} the weight {row[j]:g}, expected {expected:g}")


def means(t, n, d, causal):
    """With equal keys a row of the output is the mean of the rows of v that it sees."""
    q, k, v = t.floats(n * d), [0.5] * (n * d), t.quarters(n * d)
    out = attention(t, q, k, v, n, d, causal)["out"]
    for i in range(n):
        seen = i + 1 if causal else n
        mean = [math.fsum(v[j * d + e] for j in range(seen)) / seen for e in range(d)]
        t.close(out[i * d:(i + 1) * d], mean, f"row {i} of the output", 1e-4)


def unseen(t, n, d, number):
    """With causal no row but the last sees the last key and value, whatever they are."""
    v = t.quarters((n - 1) * d)
    out = attention(t, t.floats(n * d), [0.5] * ((n - 1) * d) + [number] * d, v + [number] * d, n, d, True)["out"]
    for i in range(n - 1):
        mean = [math.fsum(v[e:(i + 1) * d:d]) / (i + 1) for e in range(d)]
        t.close(out[i * d:(i + 1) * d], mean, f"row {i} of the output, where the last rows of k and v are {number}", 1e-4)


@T.test(4, "weights", "a few keys: weights are exp(q k / sqrt(d)), divided by their sum",
        hint="A score is the product of a row of q and a row of k, divided by sqrt(d).")
def _(t):
    for n, d in [(1, 1), (2, 1), (3, 4), (5, 3), (8, 16)]:
        q = t.floats(n * d, -2, 2)
        # The first key fits each query best, so the maximum does not change.
        weights_hold(t, [abs(each) for each in q], [3.0] * d + t.floats((n - 1) * d, -2, 2), n, d)


@T.test(4, "sizes", "more keys and queries than a tile has, and sizes that no tile divides",
        hint="The last tile has fewer keys, the last block fewer queries. d may be anything up to 64.")
def _(t):
    for n, d in [(31, 2), (33, 5), (64, 64), (70, 7), (129, 3)]:
        means(t, n, d, False)


@T.test(3, "rising", "later keys fit better: the maximum changes",
        hint="Sums so far belong to the old maximum: multiply them, and the total, by exp(old maximum - new maximum).")
def _(t):
    for n in (2, 40, 70):
        q, k = [1.0] * n, [8.0 * row / n for row in range(n)]
        t.close(attention(t, q, k, [1.0] * n, n, 1, False)["out"], [1.0] * n, "the sum of the weights of each query", 1e-4)
        total = math.fsum(math.exp(each) for each in k)
        for j in sorted({0, 1, n // 2, n - 1}):
            found = attention(t, q, k, [1.0 if row == j else 0.0 for row in range(n)], n, 1, False)["out"]
            t.close([1e3 * each for each in found], [1e3 * math.exp(k[j]) / total] * n, f"1000 times the weight of key {j}, for each query", 1e-3)


@T.test(3, "large", "scores whose exp() no float holds", hint="Subtract the maximum from the scores before exp().")
def _(t):
    for high in (300.0, -300.0):
        weights_hold(t, [high, high, 0.0], [1.0, 0.5, -1.0], 3, 1)
    for high in (1e6, 1e18):
        weights_hold(t, [high, high], [-high, -high], 2, 1)


@T.test(4, "causal", "row i sees keys 0 to i",
        hint="Key j counts where j <= i. A masked key is no candidate for the maximum, and its value is left out: 0 times infinity is NaN.")
def _(t):
    for n, d in [(1, 1), (2, 1), (5, 4), (33, 3), (80, 5)]:
        means(t, n, d, True)
    for n in (3, 17):
        # Each key fits worse than those before it: the maximum does not change.
        weights_hold(t, [2.0] * n, [-0.1 * row for row in range(n)], n, 1, True)
    for n, d in [(2, 1), (40, 3)]:
        unseen(t, n, d, math.inf)


def counted(t, n, d, causal=False):
    reply = attention(t, t.floats(n * d), t.floats(n * d), t.floats(n * d), n, d, causal)
    loads, stores = (sum(each[f"global_{name}_bytes"] for each in reply.launches) / 4 for name in ("load", "store"))
    return loads, stores


@T.test(3, "stores", "only the output is stored: n d numbers, never the n x n weights",
        hint="A tile of scores lives in registers or shared memory until its values are summed.")
def _(t):
    n, d = 48, 4
    if not t.on_gpu:
        t.at_most(counted(t, n, d)[1], n * d, "numbers stored to global memory")


@T.test(2, "loads", "16 queries or more share a tile of keys and values: at most n d (1 + 2 n / 16) loads",
        hint="The threads of a block load a tile of k and v into shared memory together.")
def _(t):
    for n, d in [(64, 8), (48, 20)]:
        found = counted(t, n, d)[0]
        if not t.on_gpu:
            t.at_most(found, n * d * (1 + 2 * n / 16), "numbers loaded from global memory")


@T.test(2, "masked tiles", "with causal, tiles that no query of a block may see are not loaded: at most 4/5 of all loads",
        hint="The last key that a block needs is that of its last query: end the loop over tiles there.")
def _(t):
    n, d = 384, 1
    if not t.on_gpu:
        t.at_most(counted(t, n, d, True)[0], 0.8 * counted(t, n, d)[0], "numbers loaded from global memory")
