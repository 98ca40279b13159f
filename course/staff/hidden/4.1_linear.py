"""Hidden tests of task 4.1."""
from judge.testing import hidden


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


@hidden("4.1", of="weight shape", test="larger layers", title="90 rows, 60 inputs, 50 outputs", hint="Look at the smaller cases first.")
def _(t):
    rows, ins, outs = 90, 61, 50
    given, reply = backward(t, rows, ins, outs)
    dy = given["dy"]
    t.is_product(reply["dx"], dy, given["w"], rows, ins, outs, "dx")
    t.is_product(reply["dw"], [dy[r * outs + o] for o in range(outs) for r in range(rows)], given["x"], outs, ins, rows, "dw")
    t.equal(reply["db"], [sum(dy[o::outs]) for o in range(outs)], "db")
