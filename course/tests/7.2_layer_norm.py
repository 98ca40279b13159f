"""Tests of task 7.2."""
import math

from judge.testing import task

T = task("7.2", "Layer norm", 20, "7_transformer/7.2_layer_norm.cu",
         exports=["course::gpu::layer_norm", "course::gpu::layer_norm_backward"], extra=True)


def forward(t, x, d, weight=None, bias=None):
    return t.run(x=x, rows=len(x) // d, weight=weight or [1.0] * d, bias=bias or [0.0] * d)


def backward(t, dout, x, d, mean, rstd, weight=None):
    return t.run(dout=dout, x=x, rows=len(x) // d, weight=weight or [1.0] * d, mean=mean, rstd=rstd)


@T.test(4, "rows", "mean, rstd and out of short rows", hint="The variance is the mean of the squared distances from the mean: divide by d.")
def _(t):
    for x, d, mean, deviation in [([1.0, 3.0], 2, [2.0], [1.0]), ([5.0, 5.0, 5.0], 3, [5.0], [0.0]),
                                  ([0.0, 4.0, -2.0, 2.0, 1.0, -1.0], 2, [2.0, 0.0, 0.0], [2.0, 2.0, 1.0])]:
        found = forward(t, x, d)
        rstd = [1 / math.sqrt(each * each + 1e-5) for each in deviation]
        t.close(found["mean"], mean, "mean")
        t.close([a / b for a, b in zip(found["rstd"], rstd)], [1.0] * len(rstd), "rstd, divided by what is expected,")
        t.close(found["out"], [(each - mean[i // d]) * rstd[i // d] for i, each in enumerate(x)], "out")


@T.test(2, "weight and bias", "each column has a weight and a bias", hint="The weight comes before the bias: h * weight[e] + bias[e].")
def _(t):
    s = 1 / math.sqrt(1 + 1e-5)
    found = forward(t, [1.0, 3.0, 7.0, 5.0], 2, [2.0, 0.5], [10.0, -1.0])["out"]
    t.close(found, [10 - 2 * s, 0.5 * s - 1, 10 + 2 * s, -0.5 * s - 1], "out")


@T.test(3, "far from 0", "large numbers close to each other", hint="mean(x^2) - mean^2 loses all digits there: subtract the mean first.")
def _(t):
    for offset in (4096.0, 60000.0):
        found = forward(t, [offset - 1, offset + 1, offset - 1, offset + 1], 4)
        t.close(found["mean"], [offset], "mean")
        t.close(found["out"], [-1.0, 1.0, -1.0, 1.0], "out", 1e-3)
    s = math.sqrt(2)  # no float is the mean of these: it is 0.0002 off, so out is, too, and the variance less than 0.0000001
    t.close(forward(t, [4096.0, 4096.0, 4097.0], 3)["out"], [-1 / s, -1 / s, s], "out", 1e-3)


@T.test(2, "lengths", "rows of any length", hint="A thread takes the columns t, t + threads, ...; threads without a column add 0.")
def _(t):
    for rows, d in [(1, 1), (3, 31), (2, 64), (5, 65), (2, 300), (1, 1100)]:
        out = forward(t, t.quarters(rows * d), d)["out"]
        for r in range(rows):
            row = out[r * d:r * d + d]
            t.close(math.fsum(row) / d, 0.0, f"the mean of row {r} of out", 1e-4)
            t.close(math.fsum(each * each for each in row) / d, 0.0 if d == 1 else 1.0, f"the mean square of row {r} of out", 1e-3)


@T.test(3, "dx", "the gradient of x", hint="The mean and rstd depend on every number of the row: dx has three terms.")
def _(t):
    s = 1.2247357  # rstd of -1, 0, 1
    t.close(backward(t, [1.0, 0.0, 0.0], [-1.0, 0.0, 1.0], 3, [0.0], [s])["dx"], [0.2041277, -0.4082452, 0.2041175], "dx")
    t.close(backward(t, [1.0, 1.0, 1.0], [-1.0, 0.0, 1.0], 3, [0.0], [s])["dx"], [0.0] * 3, "dx, where dout is the same everywhere,")
    t.close(backward(t, [0.0, 0.0, 1.0], [-1.0, 0.0, 1.0], 3, [0.0], [s], [1.0, 1.0, -2.0])["dx"], [-0.408235, 0.8164905, -0.4082555], "dx")
    found = backward(t, [0.0, 2.0] * 500, [1.0, 3.0] * 500, 1000, [2.0], [1.0])["dx"]  # a shift or stretch of x changes nothing in out
    t.close(found, [0.0] * 1000, "dx, where dout is x - 1,")
    for d in (2, 33, 100):  # a shift of x changes nothing in out, so the slopes of a row sum to 0
        x, dout, weight = t.floats(3 * d), t.floats(3 * d), t.floats(d)
        state = forward(t, x, d, weight)
        dx = backward(t, dout, x, d, state["mean"], state["rstd"], weight)["dx"]
        t.close([math.fsum(dx[r * d:r * d + d]) for r in range(3)], [0.0] * 3, "sums of the rows of dx", 1e-3)


@T.test(3, "dweight and dbias", "sums over the rows", hint="dweight[e] sums dout * h over all rows, dbias[e] sums dout.")
def _(t):
    found = backward(t, [1.0, 2.0, 4.0, 8.5], [1.0, 3.0, 9.0, 5.0], 2, [2.0, 7.0], [1.0, 0.5])
    t.equal(found["dbias"], [5.0, 10.5], "dbias")
    t.equal(found["dweight"], [3.0, -6.5], "dweight")
    for rows, d in [(1, 5), (70, 3), (4, 130)]:
        found = backward(t, [0.5] * (rows * d), [2.0] * (rows * d), d, [1.0] * rows, [0.25] * rows)
        t.equal(found["dbias"], [0.5 * rows] * d, "dbias")
        t.equal(found["dweight"], [0.125 * rows] * d, "dweight")
    found = backward(t, [], [], 3, [], [])
    t.equal(found["dbias"], [0.0] * 3, "dbias of no rows")
    t.equal(found["dweight"], [0.0] * 3, "dweight of no rows")


@T.test(2, "launches", "one launch forward, at most two backward, no atomics", hint="A block has a row: three sums, one after the other, in one kernel.")
def _(t):
    rows, d = 6, 96
    x = t.quarters(rows * d)
    there = forward(t, x, d)
    back = backward(t, t.quarters(rows * d), x, d, there["mean"], there["rstd"])
    if not t.on_gpu:
        t.at_most(len(there.launches), 1, "launches forward")
        t.at_most(len(back.launches), 2, "launches backward")
        t.at_most(there.total("atomics") + back.total("atomics"), 0, "atomic operations")
        t.at_most(there.total("global_loads"), 5 * rows * d, "loads forward")
        t.at_most(there.total("global_stores"), rows * (d + 2), "stores forward")
        t.at_most(back.total("global_loads"), 16 * rows * d, "loads backward")
        t.at_most(back.total("global_stores"), (rows + 2) * d, "stores backward")


@T.test(1, "sectors", "neighbouring threads load neighbouring columns", hint="Thread t of a row's block takes the columns t, t + threads, ...")
def _(t):
    rows, d = 8, 128
    reply = forward(t, t.quarters(rows * d), d)
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), 6 * rows * d / 8 + 2 * rows, "sectors", reply.worst("sectors"))
