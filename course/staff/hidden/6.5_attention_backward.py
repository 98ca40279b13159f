"""Hidden tests of task 6.5."""
import math

from judge.testing import hidden, public


def compare(t, n, d, causal, scale=2.0, tolerance=1e-3):
    q, k, v, dout = (t.floats(n * d, -scale, scale) for _ in range(4))
    out, lse, dq, dk, dv = [], [], [0.0] * (n * d), [0.0] * (n * d), [0.0] * (n * d)
    for i in range(n):
        scores = [sum(q[i * d + e] * k[j * d + e] for e in range(d)) / math.sqrt(d) for j in range(i + 1 if causal else n)]
        terms = [math.exp(each - max(scores)) for each in scores]
        total = math.fsum(terms)
        lse.append(max(scores) + math.log(total))
        weights = [each / total for each in terms]
        row = [math.fsum(w * v[j * d + e] for j, w in enumerate(weights)) for e in range(d)]
        out += row
        mean = sum(dout[i * d + e] * row[e] for e in range(d))
        for j, w in enumerate(weights):
            slope = w * (sum(dout[i * d + e] * v[j * d + e] for e in range(d)) - mean) / math.sqrt(d)
            for e in range(d):
                dq[i * d + e] += slope * k[j * d + e]
                dk[j * d + e] += slope * q[i * d + e]
                dv[j * d + e] += w * dout[i * d + e]
    found = public("6.5").backward(t, dout, out, lse, q, k, v, d, int(causal))
    for name, expected in (("dq", dq), ("dk", dk), ("dv", dv)):
        t.close(found[name], expected, name, tolerance)


@hidden("6.5", of="dv", test="random rows", title="random rows, without a mask", hint="Try random numbers, n = 5 and d = 3.")
def _(t):
    for n, d in ((1, 3), (5, 3), (20, 1)):
        compare(t, n, d, False)


@hidden("6.5", of="dq and dk", test="random gradients", title="random gradients of several tiles", hint="Try random numbers, n = 40 and d = 6.")
def _(t):
    for n, d in ((40, 6), (66, 3), (9, 33)):
        compare(t, n, d, False)


@hidden("6.5", of="sizes", test="random sizes", title="random sizes", hint="The last tile has fewer rows.")
def _(t):
    for n, d in ((t.random.randint(2, 60), t.random.randint(1, 12)), (17, 64), (130, 1)):
        compare(t, n, d, False)
    found, *gradients = public("6.5").of_equal_keys(t, 9, 4, again=True)
    for name, expected in zip(("dq", "dk", "dv"), gradients):
        t.close(found[name], expected, f"{name} of a second call", 1e-3)


@hidden("6.5", of="causal", test="random rows with a mask", title="random rows, with a mask", hint="Row j of dk and dv counts in the rows from j on.")
def _(t):
    for n, d in ((6, 2), (50, 5), (65, 9), (34, 64), (150, 1)):
        compare(t, n, d, True)
    for number in (-math.inf, math.nan):
        public("6.5").unseen(t, 41, 3, number)


@hidden("6.5", of="large", test="scores far from 0", title="scores of up to 150, and far below 0", hint="exp(score - lse) is at most 1.")
def _(t):
    compare(t, 12, 1, False, 12.0, 2e-2)
    compare(t, 40, 1, True, 12.0, 2e-2)


@hidden("6.5", of="stores", test="stores of other sizes", title="stores of 100 rows of 16", hint="Weights are computed anew.")
def _(t):
    n, d = 100, 16
    reply = public("6.5").backward(t, [0.5] * (n * d), [0.5] * (n * d), [1.0] * n, [0.5] * (n * d), [0.5] * (n * d), [0.5] * (n * d), d, 1)
    if not t.on_gpu:
        t.at_most(reply.total("global_store_bytes") / 4, n * (3 * d + 1), "numbers stored to global memory")
        t.at_most(len(reply.launches), 3, "launches")


@hidden("6.5", of="loads", test="loads of other sizes", title="loads of 96 rows of 10", hint="16 rows or more share a tile.")
def _(t):
    n, d = 96, 10
    if not t.on_gpu:
        t.at_most(public("6.5").loaded(t, n, d), n * d * (8 + 6 * n / 16), "numbers loaded from global memory")


@hidden("6.5", of="masked tiles", test="masked tiles of other sizes", title="loads of 100 rows with a mask", hint="Tiles of which no row sees the other are not loaded.")
def _(t):
    n, d = 100, 1
    if not t.on_gpu:
        t.at_most(public("6.5").loaded(t, n, d, 1), 0.9 * public("6.5").loaded(t, n, d), "numbers loaded from global memory")
