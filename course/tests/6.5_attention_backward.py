"""Tests of task 6.5. Where all keys are equal, so are the weights of a row, and gradients are sums that are known."""
import math

from judge.testing import task

T = task("6.5", "The gradient of attention by tiles", 20, "6_extra/6.5_attention_backward.cu", exports=["course::gpu::attention_backward"], extra=True)


def backward(t, dout, out, lse, q, k, v, d, causal=0, **more):
    return t.run(dout=dout, out=out, lse=lse, q=q, k=k, v=v, n=len(lse), d=d, causal=causal, **more)


def of_equal_keys(t, n, d, causal=0, again=False):
    """Gradients where all numbers of all keys are 0.5, and what is expected: dq is 0, dk and dv are sums over the rows that see a key.
    again: after a call with another dout at the same place."""
    q, v, dout = (t.quarters(n * d, -2, 2) for _ in range(3))
    sees = [i + 1 if causal else n for i in range(n)]
    out = [math.fsum(v[e:sees[i] * d:d]) / sees[i] for i in range(n) for e in range(d)]
    lse = [0.5 * sum(q[i * d:i * d + d]) / math.sqrt(d) + math.log(sees[i]) for i in range(n)]
    dk, dv = [0.0] * (n * d), [0.0] * (n * d)
    for j in range(n):
        for i in range(j if causal else 0, n):
            slope = sum(dout[i * d + e] * (v[j * d + e] - out[i * d + e]) for e in range(d)) / sees[i] / math.sqrt(d)
            for e in range(d):
                dk[j * d + e] += slope * q[i * d + e]
                dv[j * d + e] += dout[i * d + e] / sees[i]
    before = {"before": t.quarters(n * d, -2, 2)} if again else {}
    return backward(t, dout, out, lse, q, [0.5] * (n * d), v, d, causal, **before), [0.0] * (n * d), dk, dv


@T.test(3, "dv", "row j of dv sums dout of the rows that see it, by their weights", hint="weight[i, j] = exp(score[i, j] - lse[i]): lse holds the sum that forward had.")
def _(t):
    t.close(backward(t, [2.5], [3.0], [1.0], [1.0], [1.0], [3.0], 1)["dv"], [2.5], "dv")
    three = math.log(3)
    found = backward(t, [4.0, 8.0], [7.0, 6.0], [math.log(4), math.log(2)], [1.0, 0.0], [0.0, three], [4.0, 8.0], 1)
    t.close(found["dv"], [1 + 4.0, 3 + 4.0], "dv")
    for n, d in ((3, 2), (7, 5)):
        found, _, _, dv = of_equal_keys(t, n, d)
        t.close(found["dv"], dv, "dv, where all keys are equal", 1e-4)


@T.test(4, "dq and dk", "gradients of queries and keys",
        hint="The slope of a score is weight * (dout[i] v[j] - dout[i] out[i]) / sqrt(d): out is the mean of the values by the weights.")
def _(t):
    three = math.log(3)
    found = backward(t, [4.0, 8.0], [7.0, 6.0], [math.log(4), math.log(2)], [1.0, 0.0], [0.0, three], [4.0, 8.0], 1)
    t.close(found["dq"], [3 * three, 8 * three], "dq")  # slopes -3, 3 and -8, 8
    t.close(found["dk"], [-3.0, 3.0], "dk")
    wide = lambda values: [each for value in values for each in (value, 0.0, 0.0, 0.0)]  # noqa: E731
    found = backward(t, wide([4.0, 8.0]), wide([7.0, 6.0]), [math.log(4), math.log(2)], wide([2.0, 0.0]), wide([0.0, three]), wide([4.0, 8.0]), 4)
    t.close(found["dq"], wide([1.5 * three, 4 * three]), "dq with d = 4")
    t.close(found["dk"], wide([-3.0, 3.0]), "dk with d = 4")
    for n, d in ((3, 2), (7, 5)):
        found, dq, dk, _ = of_equal_keys(t, n, d)
        t.close(found["dq"], dq, "dq, where all keys are equal", 1e-4)
        t.close(found["dk"], dk, "dk, where all keys are equal", 1e-4)


@T.test(3, "sizes", "more rows than a tile has, and sizes that no tile divides", hint="The last tile has fewer rows. d may be anything up to 64.")
def _(t):
    for n, d in ((31, 2), (33, 3), (64, 1), (40, 64), (97, 2)):
        found, dq, dk, dv = of_equal_keys(t, n, d, again=n == 31)
        for name, expected in (("dq", dq), ("dk", dk), ("dv", dv)):
            t.close(found[name], expected, name, 1e-3)


def unseen(t, n, d, number):
    """With causal no key but the first counts in row 0, and no row but the last sees the last value."""
    q, k, v, out = t.quarters(n * d, -2, 2), [0.5] * (n * d), t.quarters((n - 1) * d, -2, 2) + [number] * d, t.quarters(n * d)
    lse = [0.5 * sum(q[i * d:i * d + d]) / math.sqrt(d) + math.log(i + 1) for i in range(n)]
    found = backward(t, [1.0] * (n * d), out, lse, q, k, v, d, 1)
    slopes = [[(sum(v[j * d + e] - out[i * d + e] for e in range(d)) / (i + 1) / math.sqrt(d)) for j in range(i + 1)] for i in range(n - 1)]
    t.close(found["dq"][:-d], [0.5 * math.fsum(row) for row in slopes for _ in range(d)], f"dq before the last row, where the last row of v is {number}", 1e-3)
    dout, v = [number] * d + [1.0] * ((n - 1) * d), [2.0] * (n * d)
    found = backward(t, dout, v, lse, q, k, v, d, 1)  # v and out are the same, so all slopes are 0
    t.close(found["dk"][d:], [0.0] * ((n - 1) * d), f"dk behind row 0, where row 0 of dout is {number}", 1e-3)
    t.close(found["dv"][d:], [math.fsum(1 / (i + 1) for i in range(j, n)) for j in range(1, n) for _ in range(d)], f"dv behind row 0, where row 0 of dout is {number}", 1e-3)
    t.close(found["dq"][d:], [0.0] * ((n - 1) * d), f"dq behind row 0, where row 0 of dout is {number}", 1e-3)


@T.test(3, "causal", "row i sees the rows 0 to i", hint="Row j of dk and dv counts in the rows from j on. Leave out what is not seen: 0 times infinity is NaN.")
def _(t):
    for n, d in ((1, 1), (2, 1), (5, 3), (33, 2), (70, 4)):
        found, dq, dk, dv = of_equal_keys(t, n, d, 1)
        for name, expected in (("dq", dq), ("dk", dk), ("dv", dv)):
            t.close(found[name], expected, name, 1e-3)
    for n, d in ((2, 1), (35, 2)):
        unseen(t, n, d, math.inf)


@T.test(1, "large", "scores of 300, and of -300", hint="exp(score - lse) is at most 1: never compute exp of the score alone.")
def _(t):
    for high in (300.0, -300.0):
        found = backward(t, [2.0], [6.0], [high + math.log(2)], [high], [1.0], [6.0], 1)
        t.close(found["dv"], [1.0], f"dv with a score of {high:g}")  # as if another row had the other half
        t.close(found["dq"], [0.0], f"dq with a score of {high:g}")


@T.test(2, "stores", "only the gradients and n more numbers are stored, in at most three launches", hint="Weights are computed anew from q, k and lse wherever they are needed.")
def _(t):
    n, d = 48, 4
    reply = of_equal_keys(t, n, d)[0]
    if not t.on_gpu:
        t.at_most(reply.total("global_store_bytes") / 4, n * (3 * d + 1), "numbers stored to global memory")
        t.at_most(len(reply.launches), 3, "launches")
        t.at_most(reply.total("atomics"), 0, "atomic operations")


def loaded(t, n, d, causal=0):
    rows = [0.5] * (n * d)
    return backward(t, rows, rows, [1.0] * n, rows, rows, rows, d, causal).total("global_load_bytes") / 4


@T.test(3, "loads", "16 rows or more share a tile: at most n d (8 + 6 n / 16) loads",
        hint="A block of queries goes along tiles of k and v in shared memory, and a block of keys along tiles of q and dout.")
def _(t):
    n, d = 128, 8
    if not t.on_gpu:
        t.at_most(loaded(t, n, d), n * d * (8 + 6 * n / 16), "numbers loaded from global memory")


@T.test(1, "masked tiles", "with causal, tiles of which no row sees the other are not loaded: at most 9/10 of all loads",
        hint="A block of queries needs the keys up to its last row, a block of keys the queries from its first row on.")
def _(t):
    n, d = 112, 1
    if not t.on_gpu:
        t.at_most(loaded(t, n, d, 1), 0.9 * loaded(t, n, d), "numbers loaded from global memory")
