"""Hidden tests of task 7.4."""
import math

from judge.testing import hidden, public


def gelu(u):
    return u * (1 + math.erf(u / math.sqrt(2))) / 2


def slope(u):
    return (1 + math.erf(u / math.sqrt(2))) / 2 + u * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)


@hidden("7.4", of="values", test="random inputs", title="random numbers and biases", hint="Try any number of rows and columns.")
def _(t):
    for rows, columns in [(3, 5), (70, 33), (1, 5003), (70001, 1)]:
        x, bias = t.floats(rows * columns, -4, 4), t.floats(columns)
        found = t.run(x=x, bias=bias, rows=rows)
        t.close(found["out"], [gelu(each + bias[i % columns]) for i, each in enumerate(x)], "out")
        if not t.on_gpu:
            t.at_most(len(found.launches), 1, "launches")


@hidden("7.4", of="slopes", test="random gradients", title="random gradients", hint="Try any number of rows and columns.")
def _(t):
    for rows, columns in [(3, 5), (70, 33), (1, 5003), (5003, 1)]:
        x, dout, bias = t.floats(rows * columns, -4, 4), t.floats(rows * columns), t.floats(columns)
        dx = [each * slope(x[i] + bias[i % columns]) for i, each in enumerate(dout)]
        found = t.run(x=x, dout=dout, bias=bias, rows=rows)
        t.close(found["dx"], dx, "dx")
        t.close(found["dbias"], [math.fsum(dx[c::columns]) for c in range(columns)], "dbias", 1e-4)
        if not t.on_gpu:
            t.at_most(len(found.launches), 1, "launches")
            t.at_most(found.total("atomics"), 0, "atomic operations")


@hidden("7.4", of="bias", test="random biases", title="random biases of many columns", hint="Element (r, c) gets bias[c].")
def _(t):
    for rows, columns in [(7, 3), (2, 300), (40, 33)]:
        bias = t.floats(columns, -4, 4)
        t.close(public("7.4").forward(t, [0.0] * (rows * columns), bias)["out"], [gelu(each) for each in bias] * rows, "out")


@hidden("7.4", of="gradient of the bias", test="random sums", title="dbias of a random number of rows", hint="The bias of a column is added in each row.")
def _(t):
    for _ in range(4):
        rows, columns = t.random.randint(1, 500), t.random.randint(1, 9)
        dout = t.quarters(rows * columns)
        found = public("7.4").backward(t, dout, [0.0] * (rows * columns), [0.0] * columns)
        t.equal(found["dbias"], [sum(dout[c::columns]) / 2 for c in range(columns)], "dbias, where all slopes are 1/2")


@hidden("7.4", of="large", test="other large numbers", title="numbers from 8 to 100,000, of both signs", hint="erf is 1 or -1 there, and exp(-u^2 / 2) is 0.")
def _(t):
    x = [sign * each for each in (8.0, 15.0, 100.0, 1e5) for sign in (1, -1)]
    t.close(public("7.4").forward(t, x, [0.0] * 8)["out"], [max(each, 0.0) for each in x], "out")
    t.close(public("7.4").backward(t, [1.0] * 8, x, [0.0] * 8)["dx"], [float(each > 0) for each in x], "dx")


def counted(t, rows, columns):
    """Replies forward and backward."""
    x, bias = t.quarters(rows * columns), t.quarters(columns)
    return public("7.4").forward(t, x, bias), public("7.4").backward(t, t.quarters(rows * columns), x, bias)


@hidden("7.4", of="launches", test="launches of other sizes", title="one launch each, of 70 rows of 300", hint="A thread that goes down a column stores its dx and sums it on the way.")
def _(t):
    n = 70 * 300
    there, back = counted(t, 70, 300)
    if not t.on_gpu:
        for reply, loads, stores in ((there, 2 * n, n), (back, 3 * n + 300, n + 300)):
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), loads, "loads from global memory")
            t.at_most(reply.total("global_stores"), stores, "stores to global memory")


@hidden("7.4", of="sectors", test="sectors of other sizes", title="neighbouring threads take neighbouring columns, of 40 rows of 128", hint="Let the threads of a warp take columns side by side, in the same row.")
def _(t):
    n = 40 * 128
    there, back = counted(t, 40, 128)
    if not t.on_gpu:
        t.at_most(there.total("sectors"), 3 * n / 8, "sectors forward", there.worst("sectors"))
        t.at_most(back.total("sectors"), 4 * n / 8 + 2 * 128 / 8, "sectors backward", back.worst("sectors"))
