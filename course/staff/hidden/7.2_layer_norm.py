"""Hidden tests of task 7.2."""
import math

from judge.testing import hidden, public


@hidden("7.2", of="rows", test="random rows", title="random rows, weights and biases", hint="Try rows of fractions, of up to 5,000 columns, and 2,000 rows.")
def _(t):
    for rows, d in [(3, 7), (2, 129), (2003, 2), (1, 5003)]:
        x, weight, bias = t.floats(rows * d, -3, 5), t.floats(d), t.floats(d)
        found = t.run(x=x, rows=rows, weight=weight, bias=bias)
        for r in range(rows):
            row = x[r * d:r * d + d]
            mean = math.fsum(row) / d
            rstd = 1 / math.sqrt(math.fsum((each - mean) ** 2 for each in row) / d + 1e-5)
            t.close(found["mean"][r], mean, f"mean of row {r}", 1e-4)
            t.close(found["rstd"][r], rstd, f"rstd of row {r}", 1e-4)
            t.close(found["out"][r * d:r * d + d], [(each - mean) * rstd * a + b for each, a, b in zip(row, weight, bias)], f"row {r} of out", 1e-4)


@hidden("7.2", of="dx", test="random gradients", title="random gradients", hint="Try rows of fractions, of up to 2,000 columns, and 5,000 rows.")
def _(t):
    for rows, d in [(2, 3), (5, 65), (2503, 1), (2, 2003)]:
        x, dout, weight = t.floats(rows * d, -2, 3), t.floats(rows * d), t.floats(d)
        mean, rstd = t.floats(rows), t.floats(rows, 0.5, 2)
        found = t.run(dout=dout, x=x, rows=rows, weight=weight, mean=mean, rstd=rstd)
        dweight, dbias = [0.0] * d, [0.0] * d
        for r in range(rows):
            h = [(x[r * d + e] - mean[r]) * rstd[r] for e in range(d)]
            g = [dout[r * d + e] * weight[e] for e in range(d)]
            shift, stretch = math.fsum(g) / d, math.fsum(a * b for a, b in zip(g, h)) / d
            t.close(found["dx"][r * d:r * d + d], [rstd[r] * (a - shift - b * stretch) for a, b in zip(g, h)], f"row {r} of dx", 1e-4)
            for e in range(d):
                dweight[e] += dout[r * d + e] * h[e]
                dbias[e] += dout[r * d + e]
        t.close(found["dweight"], dweight, "dweight", 1e-4)
        t.close(found["dbias"], dbias, "dbias", 1e-4)
        if not t.on_gpu:
            t.at_most(len(found.launches), 2, "launches")


@hidden("7.2", of="weight and bias", test="random weights", title="rows of 1 and -1, random weights and biases", hint="The weight comes before the bias: h * weight[e] + bias[e].")
def _(t):
    s = 1 / math.sqrt(1 + 1e-5)
    for rows, d in [(1, 6), (5, 34), (3, 400)]:
        x, weight, bias = [1.0, -1.0] * (rows * d // 2), t.quarters(d), t.quarters(d)
        out = public("7.2").forward(t, x, d, weight, bias)["out"]
        t.close(out, [each * s * weight[i % d] + bias[i % d] for i, each in enumerate(x)], "out")


@hidden("7.2", of="far from 0", test="farther from 0", title="rows around 10,000 and -50,000", hint="Subtract the mean before numbers are squared.")
def _(t):
    for offset, d in [(10000.0, 6), (-50000.0, 300), (131072.0, 64)]:
        x = [offset + 2.0 * (-1) ** i for i in range(d)]
        t.close(public("7.2").forward(t, x, d)["out"], [float((-1) ** i) for i in range(d)], "out", 1e-3)


@hidden("7.2", of="lengths", test="random lengths", title="rows of random lengths", hint="A thread takes the columns t, t + threads, ...")
def _(t):
    for _ in range(5):
        rows, d = t.random.randint(1, 5), t.random.randint(2, 1200)
        out = public("7.2").forward(t, t.quarters(rows * d), d)["out"]
        for r in range(rows):
            t.close(math.fsum(out[r * d:r * d + d]) / d, 0.0, f"the mean of row {r} of out", 1e-4)


@hidden("7.2", of="dweight and dbias", test="sums of random rows", title="sums over a random number of rows", hint="dweight[e] sums dout * h over all rows, dbias[e] sums dout.")
def _(t):
    for _ in range(3):
        rows, d = t.random.randint(1, 300), t.random.randint(1, 9)
        dout, x = t.quarters(rows * d), t.quarters(rows * d)
        found = public("7.2").backward(t, dout, x, d, [1.0] * rows, [0.5] * rows)
        t.equal(found["dbias"], [sum(dout[e::d]) for e in range(d)], "dbias")
        t.equal(found["dweight"], [sum(a * (b - 1) / 2 for a, b in zip(dout[e::d], x[e::d])) for e in range(d)], "dweight")


@hidden("7.2", of="launches", test="launches of other sizes", title="loads, stores and launches of 20 rows of 300", hint="A block has a row: three sums, one after the other, in one kernel.")
def _(t):
    rows, d = 20, 300
    there = public("7.2").forward(t, t.quarters(rows * d), d)
    back = public("7.2").backward(t, t.quarters(rows * d), t.quarters(rows * d), d, there["mean"], there["rstd"])
    if not t.on_gpu:
        t.at_most(len(there.launches), 1, "launches forward")
        t.at_most(len(back.launches), 2, "launches backward")
        t.at_most(there.total("global_loads"), 5 * rows * d, "loads forward")
        t.at_most(back.total("global_loads"), 16 * rows * d, "loads backward")
        t.at_most(back.total("global_stores"), (rows + 2) * d, "stores backward")


@hidden("7.2", of="sectors", test="sectors of other sizes", title="neighbours load neighbours, of 5 rows of 256", hint="Thread t of a row's block takes the columns t, t + threads, ...")
def _(t):
    rows, d = 5, 256
    reply = public("7.2").forward(t, t.quarters(rows * d), d)
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), 6 * rows * d / 8 + 2 * rows, "sectors", reply.worst("sectors"))


@hidden("7.2", of="rows", test="more rows", title="70,000 rows", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    t.begins(seconds=0.3, may_end=True, x=[1.0] * 70000, rows=70000, weight=[1.0], bias=[0.0])


@hidden("7.2", of="dx", test="gradients of more rows", title="70,000 rows", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    t.begins(seconds=0.3, may_end=True, dout=[1.0] * 70000, x=[1.0] * 70000, rows=70000, weight=[1.0], mean=[1.0] * 70000, rstd=[1.0] * 70000)
