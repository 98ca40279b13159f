"""Hidden tests of task 6.3."""
import math

from judge.testing import hidden


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


@hidden("6.3", of="weights", test="more keys", title="600 keys", hint="Nothing limits the number of keys.")
def _(t):
    n = 600
    v = [float(row % 7) for row in range(n)]
    out = t.run(q=t.floats(n), k=[0.5] * n, v=v, n=n, d=1, causal=0)["out"]
    t.close(out, [sum(v) / n] * n, "out, where all keys are equal", 1e-4)
