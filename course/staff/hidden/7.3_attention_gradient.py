"""Hidden tests of task 7.3."""
import math

from judge.testing import hidden


def attention(q, k, v, n, d):
    """(out, weights) of one head."""
    out, weights = [], []
    for i in range(n):
        scores = [sum(q[i * d + e] * k[j * d + e] for e in range(d)) / math.sqrt(d) for j in range(i + 1)]
        terms = [math.exp(each - max(scores)) for each in scores]
        row = [each / sum(terms) for each in terms]
        weights += row + [0.0] * (n - i - 1)
        out += [sum(w * v[j * d + e] for j, w in enumerate(row)) for e in range(d)]
    return out, weights


@hidden("7.3", of="weights", test="random inputs", title="random q, k and v", hint="Try random numbers, n = 70 and d = 12.")
def _(t):
    for n, d in [(6, 3), (70, 12), (5, 1100)]:
        q, k, v = (t.floats(n * d, -2, 2) for _ in range(3))
        found = t.run(q=q, k=k, v=v, n=n, d=d, heads=1)
        out, weights = attention(q, k, v, n, d)
        t.close(found["weights"], weights, "weights", 1e-4)
        t.close(found["out"], out, "out", 1e-4)


@hidden("7.3", of="dq and dk", test="random gradients", title="random gradients, of several heads", hint="Try random numbers, n = 20, d = 6 and two heads.")
def _(t):
    for heads, n, d in [(1, 5, 3), (2, 20, 6), (1, 67, 2), (1, 300, 1), (1, 3, 1100)]:
        q, k, v, dout = (t.floats(heads * n * d, -2, 2) for _ in range(4))
        expected, weights = {name: [0.0] * len(q) for name in ("dq", "dk", "dv")}, []
        for h in range(heads):
            at = h * n * d
            _, part = attention(q[at:at + n * d], k[at:at + n * d], v[at:at + n * d], n, d)
            weights += part
            for i in range(n):
                row, ours = part[i * n:i * n + i + 1], at + i * d
                slopes = [sum(dout[ours + e] * v[at + j * d + e] for e in range(d)) for j in range(i + 1)]
                mean = sum(a * b for a, b in zip(row, slopes))
                for j in range(i + 1):
                    score = row[j] * (slopes[j] - mean) / math.sqrt(d)
                    for e in range(d):
                        expected["dq"][ours + e] += score * k[at + j * d + e]
                        expected["dk"][at + j * d + e] += score * q[ours + e]
                        expected["dv"][at + j * d + e] += row[j] * dout[ours + e]
        found = t.run(dout=dout, weights=weights, q=q, k=k, v=v, heads=heads, n=n, d=d)
        for name, values in expected.items():
            t.close(found[name], values, name, 1e-4)
        if not t.on_gpu:
            t.at_most(len(found.launches), 2, "launches")


@hidden("7.3", of="mask", test="many rows", title="1030 rows, and 300 heads", hint="Nothing limits n or the heads.")
def _(t):
    for heads, n, d in [(1, 1030, 1), (300, 3, 2)]:
        v = [float(j) for _ in range(heads) for j in range(n) for _ in range(d)]
        found = t.run(q=t.floats(heads * n * d), k=[0.5] * (heads * n * d), v=v, n=n, d=d, heads=heads)
        t.close(found["out"], [i / 2 for _ in range(heads) for i in range(n) for _ in range(d)], "out, where all keys are equal", 1e-4)
        if not t.on_gpu:
            t.at_most(len(found.launches), 1, "launches")
