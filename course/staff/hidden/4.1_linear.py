"""Hidden tests of task 4.1."""
from judge.testing import hidden, public


def backward(t, rows, ins, outs):
    given = {"dy": t.quarters(rows * outs), "x": t.quarters(rows * ins), "w": t.quarters(outs * ins)}
    return given, t.run(rows=rows, **{"in": ins}, out=outs, dx=1, db=1, stale=0.0, **given)


@hidden("4.1", of="input", test="slopes of the input", title="dx is the slope of a loss",
        hint="Add 1 to one number of x: the loss sum(dy * y) changes by its gradient.")
def _(t):
    slopes(t, "x", 3, 4, 2)
    slopes(t, "x", 7, 2, 5)


@hidden("4.1", of="weight shape", test="slopes of the weight", title="dw is the slope of a loss",
        hint="Add 1 to one number of w: the loss sum(dy * y) changes by its gradient.")
def _(t):
    slopes(t, "w", 3, 4, 2)
    slopes(t, "w", 6, 2, 5)


def slopes(t, name, rows, ins, outs):
    given, reply = backward(t, rows, ins, outs)

    def loss(x, w):
        return sum(given["dy"][r * outs + o] * sum(x[r * ins + i] * w[o * ins + i] for i in range(ins))
                   for r in range(rows) for o in range(outs))
    values = {"x": given["x"], "w": given["w"]}
    for i, value in enumerate(values[name]):
        more = [*values[name][:i], value + 1, *values[name][i + 1:]]
        t.equal(reply["d" + name][i], loss(**{**values, name: more}) - loss(**values), f"d{name}[{i}]")


@hidden("4.1", of="weight shape", test="larger layers", title="140 rows, 150 inputs, 130 outputs, and 5,000 of one of them", hint="Look at the smaller cases first.")
def _(t):
    for rows, ins, outs in ((140, 151, 130), (5003, 2, 3), (2, 5003, 3), (3, 2, 5003)):
        given, reply = backward(t, rows, ins, outs)
        dy = given["dy"]
        t.is_product(reply["dx"], dy, given["w"], rows, ins, outs, "dx")
        t.is_product(reply["dw"], [dy[r * outs + o] for o in range(outs) for r in range(rows)], given["x"], outs, ins, rows, "dw")
        t.equal(reply["db"], [sum(dy[o::outs]) for o in range(outs)], "db")


def sizes_of(t):
    return [[t.random.randint(1, 20) for _ in range(3)] for _ in range(4)]


@hidden("4.1", of="weight", test="weights of other sizes", title="the gradient of the weight, random squares", hint="dw[o, i] is the sum of dy[r, o] x[r, i] over the rows.")
def _(t):
    for size in (5, 13, 20):
        given, reply = public("4.1").backward(t, size, size, size)
        public("4.1").check_dw(t, given, reply, size, size, size)


@hidden("4.1", of="bias", test="biases of other sizes", title="the gradient of the bias, random sizes", hint="The bias is added to every row.")
def _(t):
    for rows, ins, outs in sizes_of(t):
        given, reply = public("4.1").backward(t, rows, ins, outs)
        t.equal(reply["db"], [sum(given["dy"][j::outs]) for j in range(outs)], "db")


@hidden("4.1", of="launches", test="launches of other sizes", title="at most three kernels, and no copy, of random sizes", hint="A Mat with row and column exchanged is the transposed matrix.")
def _(t):
    for sizes in [*sizes_of(t), (1, 1, 1), (1, 7, 9), (9, 1, 7), (7, 9, 1), (1, 1, 5), (5, 1, 1), (1, 5, 1), (0, 3, 4)]:
        public("4.1").only_kernels(t, public("4.1").backward(t, *sizes)[1])


@hidden("4.1", of="wanted only", test="wanted only of others", title="gradients that nobody wants cost nothing, of random sizes", hint="Look at dx and db before you queue their kernels.")
def _(t):
    for sizes in [*sizes_of(t), (1, 7, 9), (0, 3, 4)]:
        for dx, db in [(0, 1), (1, 0), (0, 0)]:
            given, reply = public("4.1").backward(t, *sizes, dx=dx, db=db)
            public("4.1").check_dw(t, given, reply, *sizes)
            public("4.1").only_kernels(t, reply, 1 + dx + db)


@hidden("4.1", of="replaced", test="replaced others", title="other numbers are replaced, of random sizes", hint="linear_backward writes the gradients.")
def _(t):
    for sizes, stale in zip(sizes_of(t), (-7.5, 1e6, float("nan"), float("inf"))):
        given, reply = public("4.1").backward(t, *sizes, stale=stale)
        public("4.1").check_dx(t, given, reply, *sizes)
        public("4.1").check_dw(t, given, reply, *sizes)
    for dx, db in [(1, 1), (0, 1), (1, 0), (0, 0)]:
        reply = public("4.1").backward(t, 0, t.random.randint(1, 9), 5, dx, db, stale=float("nan"))[1]
        t.equal((reply["dw"], reply["db"]), ([0.0] * len(reply["dw"]), [0.0] * 5 * db), "dw and db without rows")
