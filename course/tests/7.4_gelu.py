"""Tests of task 7.4."""
from judge.testing import task

T = task("7.4", "Bias and GELU", 15, "7_transformer/7.4_gelu.cu",
         exports=["course::gpu::bias_gelu", "course::gpu::bias_gelu_backward"], extra=True)

U = [0.0, 1.0, -1.0, 0.5, 3.0, -3.0]
GELU = [0.0, 0.8413447, -0.1586553, 0.3457312, 2.9959503, -0.0040497]
SLOPE = [0.5, 1.0833155, -0.0833155, 0.8674951, 1.0119458, -0.0119458]


def forward(t, x, bias):
    return t.run(x=x, bias=bias, rows=len(x) // len(bias))


def backward(t, dout, x, bias):
    return t.run(dout=dout, x=x, bias=bias, rows=len(x) // len(bias))


@T.test(3, "values", "gelu(u) = u (1 + erf(u / sqrt(2))) / 2", hint="erff is a function of CUDA; the formula with tanh is another one.")
def _(t):
    t.close(forward(t, U, [0.0] * 6)["out"], GELU, "out")
    for times in (50, 6000):
        t.close(forward(t, U * times, [0.0] * 3)["out"], GELU * times, "out")
    t.close([1000 * each for each in forward(t, [-4.0, -4.25], [0.0] * 2)["out"]], [-0.1266850, -0.0454282], "out of -4 and -4.25, times 1000,", 1e-3)


@T.test(2, "bias", "each column has a bias", hint="Element (r, c) gets bias[c].")
def _(t):
    t.close(forward(t, [1.0, 2.0, 0.0, 4.0], [-1.0, -1.0])["out"], [0.0, 0.8413447, -0.1586553, 2.9959503], "out")
    t.close(forward(t, [0.0, 0.0, 0.0] * 2, [0.5, 1.0, -1.0])["out"], [0.3457312, 0.8413447, -0.1586553] * 2, "out")


@T.test(3, "slopes", "dx is dout times the slope of gelu", hint="A product of two functions of u: its slope has two terms.")
def _(t):
    t.close(backward(t, [1.0] * 6, U, [0.0] * 6)["dx"], SLOPE, "dx")
    t.close(backward(t, [2.0, -4.0], [2.0, 0.0], [-1.0, -1.0])["dx"], [2 * 1.0833155, 4 * 0.0833155], "dx")
    t.close(backward(t, [0.5] * 300, U * 50, [0.0] * 3)["dx"], [each / 2 for each in SLOPE] * 50, "dx")
    t.close(backward(t, [0.5] * 1200, U * 200, [0.0] * 1200)["dx"], [each / 2 for each in SLOPE] * 200, "dx of one row of 1200 columns")


@T.test(3, "gradient of the bias", "dbias sums dx over the rows", hint="The bias of a column is added in each row.")
def _(t):
    for rows, columns in [(1, 1), (3, 2), (40, 5), (2, 600)]:
        dout = t.quarters(rows * columns)
        found = backward(t, dout, [0.0] * (rows * columns), [0.0] * columns)
        t.equal(found["dbias"], [sum(dout[c::columns]) / 2 for c in range(columns)], "dbias, where all slopes are 1/2")
        t.equal(found["dx"], [each / 2 for each in dout], "dx")
    t.equal(backward(t, [], [], [0.5, 1.0, 2.0])["dbias"], [0.0] * 3, "dbias of no rows")


@T.test(1, "large", "numbers far from 0", hint="erf is 1 or -1 there, and exp(-u^2 / 2) is 0.")
def _(t):
    x = [-1000.0, -30.0, 30.0, 1000.0]
    t.close(forward(t, x, [0.0] * 4)["out"], [0.0, 0.0, 30.0, 1000.0], "out")
    t.close(backward(t, [1.0] * 4, x, [0.0] * 4)["dx"], [0.0, 0.0, 1.0, 1.0], "dx")


@T.test(2, "launches", "one launch each, without atomics", hint="A thread that goes down a column stores its dx and sums it on the way.")
def _(t):
    rows, columns = 12, 40
    n = rows * columns
    there, back = forward(t, t.quarters(n), t.quarters(columns)), backward(t, t.quarters(n), t.quarters(n), t.quarters(columns))
    if not t.on_gpu:
        for reply, loads, stores in ((there, 2 * n, n), (back, 3 * n + columns, n + columns)):
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), loads, "loads from global memory")
            t.at_most(reply.total("global_stores"), stores, "stores to global memory")
            t.at_most(reply.total("atomics"), 0, "atomic operations")


@T.test(1, "sectors", "neighbouring threads take neighbouring columns", hint="Let the threads of a warp take columns side by side, in the same row.")
def _(t):
    rows, columns = 16, 64
    n = rows * columns
    there, back = forward(t, t.quarters(n), t.quarters(columns)), backward(t, t.quarters(n), t.quarters(n), t.quarters(columns))
    if not t.on_gpu:
        t.at_most(there.total("sectors"), 3 * n / 8, "sectors forward", there.worst("sectors"))
        t.at_most(back.total("sectors"), 4 * n / 8 + 2 * columns / 8, "sectors backward", back.worst("sectors"))
