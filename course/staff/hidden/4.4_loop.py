"""Hidden tests of task 4.4."""
import math
import re

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
    reply = public("4.4").train(t, t.quarters(6), t.quarters(3), [0.5, 2.0], 2, epochs=0, lr=0.25)
    t.equal((reply["losses"], reply["w"]), ([], [0.5, 2.0]), "losses and weights of no epoch")


@hidden("4.4", of="loss of an epoch", test="losses of random rows", title="the losses of random rows", hint="Try 11 rows in batches of 4.")
def _(t):
    rows = 11
    y = t.floats(2 * rows)
    reply = t.run(x=[0.0] * rows, y=y, w=[0.0, 0.0], rows=rows, outputs=2, batch=4, epochs=2, lr=0.0, device="gpu")
    t.close(reply["losses"], [sum(each * each for each in y) / (2 * rows)] * 2, "losses")
    for special in (math.nan, math.inf):
        y = t.floats(11)
        y[t.random.randrange(11)] = special
        loss = public("4.4").train(t, [0.0] * 11, y, [0.0], 4)["losses"][0]
        t.check(math.isnan(loss) or loss == special, f"loss, where one number of y is {special:g}: found {loss:g}")


@hidden("4.4", of="batches", test="many batches", title="500 rows in batches of 7", hint="Nothing limits the number of batches.")
def _(t):
    rows = 503
    x = [float(i) for i in range(rows)]
    reply = t.run(x=x, y=[1.5] * rows, w=[0.0], rows=rows, outputs=1, batch=7, epochs=2, lr=0.0, device="gpu")
    t.equal(reply["rows"], [*[7] * 71, 6] * 2, "rows of each batch")
    t.equal(reply["seen"], x * 2, "rows")
    t.close(reply["losses"], [2.25] * 2, "losses")
    x = [float(i) for i in range(3000)]
    reply = public("4.4").train(t, x, [each % 7 for each in x], [0.0], 1, epochs=2)
    t.equal((reply["rows"], reply["seen"]), ([1] * 6000, x * 2), "rows of each batch, and rows, of 3000 batches")
    t.close(reply["losses"], [sum((each % 7) ** 2 for each in x) / 3000] * 2, "losses of 3000 batches")


@hidden("4.4", of="last batch", test="last batches of others", title="random rows and batches", hint="The last batch has the rows that are left.")
def _(t):
    for _ in range(5):
        rows, batch = t.random.randint(1, 40), t.random.randint(1, 15)
        reply = public("4.4").train(t, [float(i) for i in range(rows)], [0.0] * rows, [0.0], batch)
        t.equal(reply["rows"], [min(batch, rows - at) for at in range(0, rows, batch)], "rows of each batch")
        t.equal(reply["seen"], [float(i) for i in range(rows)], "rows")
    for batch in (13, 2**30, 2**62 - 1, 2**63 - 12, 2**63 - 1):  # where sizes are not cut to the rows that there are, no device has the memory
        reply = public("4.4").train(t, t.quarters(12), t.quarters(24), [0.0] * 2, batch, epochs=2, outputs=2)
        t.equal(reply["rows"], [12, 12], "rows of each batch")


@hidden("4.4", of="fresh gradients", test="fresh gradients of more steps", title="five rows in three epochs", hint="Every step begins with gradients of 0.")
def _(t):
    reply = public("4.4").train(t, [1.0] * 5, [3.0] * 5, [0.0], 1, epochs=3, lr=0.125)
    t.close(reply["w"], [3 - 3 * 0.75 ** 15], "weight")


@hidden("4.4", of="waits", test="waits of more epochs", title="the host waits at most once in each of seven epochs", hint="Fetch all losses when the epoch ends.")
def _(t):
    for rows, batch, epochs in ((21, 4, 7), (2500, 1, 2), (1001, 2, 3)):
        events = re.sub("[^fw]", "", public("4.4").train(t, [1.0] * rows, [2.0] * rows, [0.0], batch, epochs=epochs, lr=0.25)["events"])
        t.at_most(events.count("w"), epochs, "times that the host waited")
        t.check(not re.search("wf{1,%d}w" % ((rows - 1) // batch), events), "the host waited between two steps of an epoch")


@hidden("4.4", of="data", test="data of other sizes", title="the data are moved once, of random sizes", hint="Before the first epoch all of x and y can go to the device.")
def _(t):
    for _ in range(3):
        rows, ins, outs = t.random.randint(1, 30), t.random.randint(1, 5), t.random.randint(1, 4)
        reply = public("4.4").train(t, t.quarters(rows * ins), t.quarters(rows * outs), [0.0] * (ins * outs), 4, epochs=3, outputs=outs)
        t.at_most(reply["uploaded"][0], rows * (ins + outs), "numbers moved to the device")


@hidden("4.4", of="memory", test="memory of more epochs", title="memory is taken once, in nine epochs of 11 rows", hint="Take all memory before the first epoch, by Buffer.")
def _(t):
    few, many, steps = (public("4.4").train(t, [1.0] * rows, [2.0] * rows, [0.0], batch, epochs=epochs)
                        for rows, batch, epochs in ((11, 3, 1), (11, 3, 9), (700, 1, 2)))
    t.equal(many["events"].count("a"), few["events"].count("a"), "allocations in nine epochs, compared with one,")
    t.equal(steps["events"].count("a"), few["events"].count("a"), "allocations of 700 batches in an epoch, compared with 4,")
    for reply in (few, many, steps):
        t.equal(reply["held"], [0], "allocations that were not released")


@hidden("4.4", of="cpu", test="other sizes on a cpu", title="the same on a CPU, of random sizes", hint="The loop knows nothing of the kind of device.")
def _(t):
    rows, ins = t.random.randint(5, 20), t.random.randint(1, 4)
    x, y = t.quarters(rows * ins), t.quarters(rows)
    gpu, cpu = (public("4.4").train(t, x, y, [0.0] * ins, 3, epochs=2, lr=0.0078125, device=device) for device in ("gpu", "cpu"))
    for what in ("losses", "w", "rows"):
        t.equal(cpu[what], gpu[what], what + " on a CPU")
