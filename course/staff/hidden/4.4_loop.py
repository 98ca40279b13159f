"""Hidden tests of task 4.4."""
from judge.testing import hidden


@hidden("4.4", of="one step", test="learns", title="weights that are known are found", hint="Train y = 3 a - 2 b for some epochs.")
def _(t):
    rows = 13
    x = t.floats(2 * rows)
    y = [3 * x[2 * r] - 2 * x[2 * r + 1] for r in range(rows)]
    reply = t.run(x=x, y=y, w=[0.0, 0.0], rows=rows, outputs=1, batch=4, epochs=300, lr=0.25, device="gpu")
    t.close(reply["w"], [3.0, -2.0], "weights", 1e-2)
    t.check(reply["losses"][-1] < 1e-3, "the loss does not become small")


@hidden("4.4", of="loss of an epoch", test="losses of random rows", title="the losses of random rows", hint="Try 11 rows in batches of 4.")
def _(t):
    rows = 11
    y = t.floats(2 * rows)
    reply = t.run(x=[0.0] * rows, y=y, w=[0.0, 0.0], rows=rows, outputs=2, batch=4, epochs=2, lr=0.0, device="gpu")
    t.close(reply["losses"], [sum(each * each for each in y) / (2 * rows)] * 2, "losses")


@hidden("4.4", of="batches", test="many batches", title="500 rows in batches of 7", hint="Nothing limits the number of batches.")
def _(t):
    rows = 503
    x = [float(i) for i in range(rows)]
    reply = t.run(x=x, y=[1.5] * rows, w=[0.0], rows=rows, outputs=1, batch=7, epochs=2, lr=0.0, device="gpu")
    t.equal(reply["rows"], [*[7] * 71, 6] * 2, "rows of each batch")
    t.equal(reply["seen"], x * 2, "rows")
    t.close(reply["losses"], [2.25] * 2, "losses")
