"""Hidden tests of task 4.1."""
from judge.testing import hidden


def backward(t, rows, ins, outs):
    given = {"dy": t.whole(rows * outs), "x": t.whole(rows * ins), "w": t.whole(outs * ins)}
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
