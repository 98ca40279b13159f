"""Hidden tests of task 4.4."""
from judge.testing import hidden, public


@hidden("4.4", of="one step", test="learns", title="weights that are known are found", hint="Train y = 3 a - 2 b for some epochs.")
def _(t):
    rows = 13
    x = t.floats(2 * rows)
    y = [3 * x[2 * r] - 2 * x[2 * r + 1] for r in range(rows)]
    reply = t.run(x=x, y=y, w=[0.0, 0.0], rows=rows, outputs=1, batch=4, epochs=300, lr=0.25, device="gpu")
    t.close(reply["w"], [3.0, -2.0], "weights", 1e-2)
    t.equal(len(reply["losses"]), 300, "how many losses there are")
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


@hidden("4.4", of="last batch", test="last batches of others", title="random rows and batches", hint="The last batch has the rows that are left.")
def _(t):
    for _ in range(5):
        rows, batch = t.random.randint(1, 40), t.random.randint(1, 15)
        reply = public("4.4").train(t, [float(i) for i in range(rows)], [0.0] * rows, [0.0], batch)
        t.equal(reply["rows"], [min(batch, rows - at) for at in range(0, rows, batch)], "rows of each batch")
        t.equal(reply["seen"], [float(i) for i in range(rows)], "rows")


@hidden("4.4", of="fresh gradients", test="fresh gradients of more steps", title="five rows in three epochs", hint="Every step begins with gradients of 0.")
def _(t):
    reply = public("4.4").train(t, [1.0] * 5, [3.0] * 5, [0.0], 1, epochs=3, lr=0.125)
    t.close(reply["w"], [3 - 3 * 0.75 ** 15], "weight")


@hidden("4.4", of="waits", test="waits of more epochs", title="the host waits once in each of seven epochs", hint="Fetch all losses when the epoch ends.")
def _(t):
    events = public("4.4").train(t, [1.0] * 21, [2.0] * 21, [0.0], 4, epochs=7, lr=0.25)["events"]
    t.at_most(events.count("w"), 7, "times that the host waited")


@hidden("4.4", of="data", test="data of other sizes", title="the data are moved once, of random sizes", hint="Before the first epoch all of x and y can go to the device.")
def _(t):
    for _ in range(3):
        rows, ins, outs = t.random.randint(1, 30), t.random.randint(1, 5), t.random.randint(1, 4)
        reply = public("4.4").train(t, t.quarters(rows * ins), t.quarters(rows * outs), [0.0] * (ins * outs), 4, epochs=3, outputs=outs)
        t.at_most(reply["uploaded"][0], rows * (ins + outs), "numbers moved to the device")


@hidden("4.4", of="memory", test="memory of more epochs", title="memory is taken once, in nine epochs of 11 rows", hint="Take all memory before the first epoch, by Buffer.")
def _(t):
    few, many = (public("4.4").train(t, [1.0] * 11, [2.0] * 11, [0.0], 3, epochs=epochs) for epochs in (1, 9))
    t.equal(many["events"].count("a"), few["events"].count("a"), "allocations in nine epochs, compared with one,")
    t.equal(many["held"], [0], "allocations that were not released")


@hidden("4.4", of="cpu", test="other sizes on a cpu", title="the same on a CPU, of random sizes", hint="The loop knows nothing of the kind of device.")
def _(t):
    rows, ins = t.random.randint(5, 20), t.random.randint(1, 4)
    x, y = t.quarters(rows * ins), t.quarters(rows)
    gpu, cpu = (public("4.4").train(t, x, y, [0.0] * ins, 3, epochs=2, lr=0.0078125, device=device) for device in ("gpu", "cpu"))
    for what in ("losses", "w", "rows"):
        t.equal(cpu[what], gpu[what], what + " on a CPU")
