"""Hidden tests of task 6.3."""
import math

from judge.testing import hidden, public


def compare(t, n, d, causal):
    q, k, v = (t.floats(n * d, -2, 2) for _ in range(3))
    out = t.run(q=q, k=k, v=v, n=n, d=d, causal=int(causal))["out"]
    for i in range(n):
        scores = [sum(q[i * d + e] * k[j * d + e] for e in range(d)) / math.sqrt(d) for j in range(i + 1 if causal else n)]
        terms = [math.exp(each - max(scores)) for each in scores]
        total = math.fsum(terms)
        row = [math.fsum(term * v[j * d + e] for j, term in enumerate(terms)) / total for e in range(d)]
        t.close(out[i * d:(i + 1) * d], row, f"row {i}", 1e-4)


@hidden("6.3", of="sizes", test="random inputs", title="random q, k and v", hint="Try random numbers, n = 50 and d = 12.")
def _(t):
    for n, d in [(6, 3), (50, 12), (37, 64)]:
        compare(t, n, d, False)


@hidden("6.3", of="causal", test="random inputs, causal", title="random q, k and v with the mask",
        hint="Try random numbers, n = 50 and d = 12, with causal.")
def _(t):
    for n, d in [(6, 3), (50, 12), (65, 5)]:
        compare(t, n, d, True)
    for number in (-math.inf, math.nan):
        public("6.3").unseen(t, 30, 2, number)


@hidden("6.3", of="weights", test="more keys", title="600 keys", hint="Nothing limits the number of keys.")
def _(t):
    n = 600
    v = [float(row % 7) for row in range(n)]
    out = t.run(q=t.floats(n), k=[0.5] * n, v=v, n=n, d=1, causal=0)["out"]
    t.close(out, [sum(v) / n] * n, "out, where all keys are equal", 1e-4)


@hidden("6.3", of="rising", test="rising by steps", title="keys that fit better and better, of other sizes", hint="The sums so far belong to the old maximum.")
def _(t):
    for n, d in [(100, 1), (65, 3), (33, 2)]:
        q, k, v = [1.5] * (n * d), [9.0 * row / n for row in range(n) for _ in range(d)], t.floats(n * d)
        scores = [d * 1.5 * 9.0 * row / n / math.sqrt(d) for row in range(n)]
        terms = [math.exp(each - max(scores)) for each in scores]
        row = [math.fsum(term * v[j * d + e] for j, term in enumerate(terms)) / math.fsum(terms) for e in range(d)]
        t.close(t.run(q=q, k=k, v=v, n=n, d=d, causal=0)["out"], row * n, "out", 1e-4)


@hidden("6.3", of="large", test="all scores far below 0", title="scores of -300, with a mask and without, in several tiles", hint="No score is 0: begin with the lowest finite number.")
def _(t):
    for high in (1e9, 3e18):
        t.close(t.run(q=[high] * 40, k=[-high] * 40, v=[float(row) for row in range(40)], n=40, d=1, causal=0)["out"], [19.5] * 40, "out, where all scores are the same", 1e-4)
    for n in (3, 40, 100):
        for high in (300.0, -300.0):
            q, k, v = [high] * n, [1.0 + row / 64 for row in range(n)], t.quarters(n)
            for causal in (0, 1):
                out = t.run(q=q, k=k, v=v, n=n, d=1, causal=causal)["out"]
                for i in range(n):
                    seen = i + 1 if causal else n
                    terms = [math.exp(high * (k[j] - (k[seen - 1] if high > 0 else k[0]))) for j in range(seen)]
                    t.close(out[i], sum(map(float.__mul__, terms, v)) / sum(terms), f"row {i} of out", 1e-3)


def counted(t, n, d, causal=False):
    reply = t.run(q=t.floats(n * d), k=t.floats(n * d), v=t.floats(n * d), n=n, d=d, causal=int(causal))
    return [sum(each[f"global_{name}_bytes"] for each in reply.launches) / 4 for name in ("load", "store")]


@hidden("6.3", of="stores", test="stores of other sizes", title="n d numbers, of 130 rows of 3 and of 40 of 64", hint="Only the output is stored.")
def _(t):
    for n, d in [(130, 3), (40, 64)]:
        if not t.on_gpu:
            t.at_most(counted(t, n, d)[1], n * d, "numbers stored to global memory")


@hidden("6.3", of="loads", test="loads of other sizes", title="at most n d (1 + 2 n / 16), of rows of up to 64", hint="16 queries or more share a tile of keys and values, whatever d is.")
def _(t):
    for n, d in [(128, 3), (64, 12), (64, 33), (32, 64)]:
        found = counted(t, n, d)[0]
        if not t.on_gpu:
            t.at_most(found, n * d * (1 + 2 * n / 16), "numbers loaded from global memory")


@hidden("6.3", of="masked tiles", test="masked tiles of wider rows", title="with causal at most 4/5 of all loads, of 512 rows of 2", hint="End the loop over tiles at the last query of the block.")
def _(t):
    if not t.on_gpu:
        t.at_most(counted(t, 512, 2, True)[0], 0.8 * counted(t, 512, 2)[0], "numbers loaded from global memory")
