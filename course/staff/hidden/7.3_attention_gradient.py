"""Hidden tests of task 7.3."""
import math

from judge.testing import hidden, public


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


@hidden("7.3", of="heads", test="random heads", title="a random number of heads, of random sizes", hint="Head h begins h * n * d numbers later in q, k, v and out, and h * n * n in the weights.")
def _(t):
    for _ in range(3):
        heads, n, d = t.random.randint(2, 9), t.random.randint(1, 40), t.random.randint(1, 9)
        q, k, v = (t.floats(heads * n * d, -2, 2) for _ in range(3))
        found = t.run(q=q, k=k, v=v, n=n, d=d, heads=heads)
        for h in range(heads):
            out, weights = attention(*(each[h * n * d:(h + 1) * n * d] for each in (q, k, v)), n, d)
            t.close(found["out"][h * n * d:(h + 1) * n * d], out, f"out of head {h}", 1e-4)
            t.close(found["weights"][h * n * n:(h + 1) * n * n], weights, f"weights of head {h}", 1e-4)


@hidden("7.3", of="weights", test="keys that rise", title="400 rows, and keys that fit better and better, or alike", hint="Each row has its own maximum, over all keys that it sees.")
def _(t):
    n = 400
    for keys in ([j / 40 for j in range(n)], [1.0 if j % 3 else -1.0 for j in range(n)], [(j % 7) / 2 for j in range(n)]):
        q, v = [1.5] * n, t.floats(n)
        found = t.run(q=q, k=keys, v=v, n=n, d=1, heads=1)
        out, weights = attention(q, keys, v, n, 1)
        t.close(found["weights"], weights, "weights", 1e-4)
        t.close(found["out"], out, "out", 1e-4)


@hidden("7.3", of="large", test="all scores far below 0", title="scores of 400, of -400 and of -1,000,000 in 70 rows", hint="Subtract the maximum of the scores that the row sees.")
def _(t):
    n = 70
    # Weights may be exp(score - lse). The lse of scores around -1,000,000 is rounded to 1/16, so weights are 3% off.
    for high, tolerance in ((20.0, 1e-3), (-20.0, 1e-3), (-50000.0, 0.05)):
        q, k, v = [high] * n, [20.0 + (j % 9) / 16 for j in range(n)], t.quarters(n)
        t.close(t.run(q=q, k=k, v=v, n=n, d=1, heads=1)["out"], attention(q, k, v, n, 1)[0], "out", tolerance)


@hidden("7.3", of="dv", test="random values", title="the gradient of the values under other weights", hint="Row j of v counts in all rows i >= j, with weights[i, j].")
def _(t):
    for n, d in [(7, 2), (90, 1), (33, 5)]:
        weights = [abs(each) if j <= i else 0.0 for i in range(n) for j, each in enumerate(t.quarters(n))]
        dout = t.quarters(n * d)
        found = public("7.3").backward(t, dout, weights, t.floats(n * d), t.floats(n * d), [0.0] * (n * d), n, d)["dv"]
        t.equal(found, [sum(weights[i * n + j] * dout[i * d + e] for i in range(n)) for j in range(n) for e in range(d)], "dv")


def counted(t, n, d, heads):
    """Replies forward and backward."""
    q, k, v, dout = (t.floats(heads * n * d) for _ in range(4))
    there = public("7.3").forward(t, q, k, v, n, d, heads)
    return there, public("7.3").backward(t, dout, there["weights"], q, k, v, n, d, heads)


@hidden("7.3", of="launches", test="launches of other sizes", title="one launch forward, at most two backward, of 9 heads of 70 rows", hint="All heads are in one grid.")
def _(t):
    there, back = counted(t, 70, 3, 9)
    if not t.on_gpu:
        t.at_most(len(there.launches), 1, "launches forward")
        t.at_most(len(back.launches), 2, "launches backward")
        t.at_most(there.total("atomics") + back.total("atomics"), 0, "atomic operations")


@hidden("7.3", of="masked work", test="masked work of other sizes", title="what is masked is not loaded, of 80 rows of 12", hint="Let loops over keys end at i, and those over queries begin at j.")
def _(t):
    n, d = 80, 12
    there, back = counted(t, n, d, 1)
    if not t.on_gpu:
        t.at_most(there.total("global_loads"), 3 * n * n * d, "loads forward")
        t.at_most(back.total("global_loads"), 5 * n * n * d, "loads backward")


@hidden("7.3", of="mask", test="values that are not seen", title="an infinite value in the last row, which no other row sees", hint="0 times infinity is NaN: leave out what a row does not see.")
def _(t):
    n, d = 5, 3
    q, k, v, dout = (t.floats(n * d) for _ in range(4))
    v[-d:] = [math.inf] * d
    seen = (n - 1) * d
    t.close(t.run(q=q, k=k, v=v, n=n, d=d, heads=1)["out"][:seen], attention(q, k, v, n - 1, d)[0], "out of the rows before the last", 1e-4)
