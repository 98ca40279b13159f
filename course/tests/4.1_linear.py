"""Tests of task 4.1."""
from judge.testing import task

T = task("4.1", "Gradients of a linear layer", 25, "4_training/4.1_linear.cpp", exports=["course::linear_backward"],
         given=["runner/virtual_device.cpp"])

SIZES = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (8, 8, 8)]
OTHER_SIZES = [(1, 3, 2), (4, 1, 3), (5, 2, 1), (3, 5, 2), (17, 4, 9)]


def backward(t, rows, ins, outs, dx=1, db=1, stale=0.0):
    given = {"dy": t.quarters(rows * outs), "x": t.quarters(rows * ins), "w": t.quarters(outs * ins)}
    return given, t.run(rows=rows, **{"in": ins}, out=outs, dx=dx, db=db, stale=stale, **given)


def transposed(x, rows, columns):
    return [x[i * columns + j] for j in range(columns) for i in range(rows)]


def check_dx(t, given, reply, rows, ins, outs):
    t.is_product(reply["dx"], given["dy"], given["w"], rows, ins, outs, "dx")


def check_dw(t, given, reply, rows, ins, outs):
    t.is_product(reply["dw"], transposed(given["dy"], rows, outs), given["x"], outs, ins, rows, "dw")


@T.test(4, "input", "the gradient of the input", hint="The shapes leave one choice: (rows, out) times (out, in) is (rows, in).")
def _(t):
    for sizes in SIZES + OTHER_SIZES:
        given, reply = backward(t, *sizes)
        check_dx(t, given, reply, *sizes)


@T.test(4, "weight", "the gradient of the weight, as many inputs as outputs",
        hint="w[o, i] meets dy[r, o] and x[r, i] in every row r: dw[o, i] is the sum of their products.")
def _(t):
    for sizes in SIZES:
        given, reply = backward(t, *sizes)
        check_dw(t, given, reply, *sizes)


@T.test(3, "weight shape", "the gradient of the weight, other shapes", hint="dw has the shape of w: (out, in).")
def _(t):
    for sizes in OTHER_SIZES:
        given, reply = backward(t, *sizes)
        check_dw(t, given, reply, *sizes)


@T.test(3, "bias", "the gradient of the bias", hint="The bias is added to every row: its gradient collects all of them.")
def _(t):
    for rows, ins, outs in SIZES + OTHER_SIZES:
        given, reply = backward(t, rows, ins, outs)
        t.equal(reply["db"], [sum(given["dy"][j::outs]) for j in range(outs)], "db")


def only_kernels(t, reply, most=3):
    t.at_most(reply["launches"][0], most, "kernels")
    t.at_most(reply["copies"][0], 0, "copies")
    t.at_most(reply["waits"][0], 0, "times that the host waited")
    t.equal(reply["held"], [0], "allocations that were not released")


@T.test(5, "launches", "at most three kernels, and no copy",
        hint="A Mat with row and column exchanged is the transposed matrix: matmul takes it as it is.")
def _(t):
    for sizes in [(2, 2, 2), (1, 2, 3), (5, 4, 3), (5, 1, 3), (5, 4, 1)]:
        only_kernels(t, backward(t, *sizes)[1])


@T.test(3, "wanted only", "gradients that nobody wants cost nothing", hint="Look at dx and db before you queue their kernels.")
def _(t):
    rows, ins, outs = 4, 3, 2
    given, whole = backward(t, rows, ins, outs)
    for dx, db in [(0, 1), (1, 0), (0, 0)]:
        reply = t.run(rows=rows, **{"in": ins}, out=outs, dx=dx, db=db, stale=0.0, **given)
        for name in ["dw"] + ["dx"] * dx + ["db"] * db:
            t.equal(reply[name], whole[name], f"{name}, which is the same where all three are wanted")
        only_kernels(t, reply, 1 + dx + db)
        t.at_most(reply["products"][0], (1 + dx) * rows * ins * outs, "multiplications")


@T.test(3, "replaced", "what the gradients held before is replaced",
        hint="linear_backward writes the gradients. Adding them up is the business of autograd.")
def _(t):
    sizes = (3, 2, 4)
    given, reply = backward(t, *sizes, stale=100.0)
    check_dx(t, given, reply, *sizes)
    check_dw(t, given, reply, *sizes)
    t.equal(reply["db"], [sum(given["dy"][j::4]) for j in range(4)], "db")
    for dx, db in [(1, 1), (0, 1), (1, 0), (0, 0)]:
        reply = backward(t, 0, 2, 3, dx, db, stale=100.0)[1]
        t.equal((reply["dw"], reply["db"]), ([0.0] * 6, [0.0] * 3 * db), "dw and db without rows")
