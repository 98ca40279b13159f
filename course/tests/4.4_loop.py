"""Tests of task 4.4."""
import math
import re

from judge.testing import task

T = task("4.4", "A training loop that does not wait", 30, "4_training/4.4_loop.cpp", exports=["course::train"],
         given=["runner/virtual_device.cpp"])


def train(t, x, y, w, batch, epochs=1, lr=0.0, outputs=1, device="gpu"):
    """Trains y = x w^T by plain gradient descent."""
    return t.run(x=x, y=y, w=w, rows=len(y) // outputs, outputs=outputs, batch=batch, epochs=epochs, lr=lr, device=device)


@T.test(4, "one step", "one batch, one step", hint="zero_grad, forward, mse, backward, step: each gets what the one before gave.")
def _(t):
    for x, y, lr, loss, w in [([2.0], [6.0], 0.125, 36.0, [3.0]), ([1.0, 2.0], [2.0, 4.0], 0.125, 10.0, [1.25]),
                              ([1.0, 0.0, 0.0, 1.0], [4.0, -8.0], 0.25, 40.0, [1.0, -2.0])]:
        reply = train(t, x, y, [0.0] * len(w), len(y), lr=lr)
        t.close(reply["losses"], [loss], "losses")
        t.close(reply["w"], w, "weights after the step")
    reply = train(t, [2.0], [6.0], [1.0], 1, epochs=0, lr=0.125)
    t.equal((reply["losses"], reply["w"]), ([], [1.0]), "losses and weights of no epoch")


@T.test(4, "batches", "whole batches, in order", hint="Batch b begins at row b * batch: a row has inputs() or outputs() numbers.")
def _(t):
    for rows, batch, ins, outs in [(4, 2, 1, 1), (6, 2, 3, 1), (6, 3, 1, 2), (4, 1, 2, 3)]:
        x = [float(i) for i in range(rows * ins)]
        y = [0.0] * (rows * outs)
        y[-outs:] = [6.0] * outs
        reply = train(t, x, y, [0.0] * (ins * outs), batch, epochs=2, outputs=outs)
        t.equal(reply["rows"], [batch] * (2 * (rows // batch)), "rows of each batch")
        t.equal(reply["seen"], x[::ins] * 2, "first numbers of the rows")
        t.close(reply["losses"], [36 / rows] * 2, "losses")


@T.test(4, "last batch", "rows that do not fill the last batch", hint="The last batch has the rows that are left, and no others.")
def _(t):
    for rows, batch, sizes in [(3, 2, [2, 1]), (1, 4, [1]), (7, 3, [3, 3, 1]), (5, 3, [3, 2]), (3, 2**30, [3]), (5, 2**63 - 1, [5])]:
        x = [float(i) for i in range(rows)]
        reply = train(t, x, [0.0] * rows, [0.0], batch)
        t.equal(reply["rows"], sizes, "rows of each batch")
        t.equal(reply["seen"], x, "rows")


@T.test(3, "loss of an epoch", "the mean over all rows of an epoch",
        hint="The loss of a batch is a mean: it counts for as many rows as the batch has.")
def _(t):
    for y, batch, loss in [([1.0, 2.0], 1, 2.5), ([0.0, 0.0, 6.0], 2, 12.0), ([1.0, 2.0, 3.0, 4.0, 6.0], 2, 13.2)]:
        t.close(train(t, [0.0] * len(y), y, [0.0], batch)["losses"], [loss], "losses")
    t.close(train(t, [0.0] * 3, [1.0, math.nan, 2.0], [0.0], 1)["losses"], [math.nan], "losses, where one number of y is NaN")


@T.test(4, "fresh gradients", "every step begins with gradients of 0",
        hint="backward adds to the gradients: what an earlier step left there does not belong to this one.")
def _(t):
    # w -> w - lr * 2 * (w - 2): half of the way to 2 in each step.
    for rows in (1, 3):
        reply = train(t, [1.0] * rows, [2.0] * rows, [0.0], 1, epochs=2, lr=0.25)
        t.close(reply["w"], [2 - 2 * 0.5 ** (2 * rows)], "weight")


@T.test(4, "waits", "the host waits at most once in an epoch, after its last step",
        hint="Leave the loss of every batch on the device, in a place of its own, and fetch all of them when the epoch ends.")
def _(t):
    for rows, batch, epochs in ((8, 2, 1), (8, 2, 3), (200, 1, 2)):
        reply = train(t, [1.0] * rows, [2.0] * rows, [0.0], batch, epochs=epochs, lr=0.25)
        events = re.sub("[^fw]", "", reply["events"])
        t.at_most(events.count("w"), epochs, "times that the host waited")
        t.check(not re.search("wf{1,3}w", events), "the host waited between two steps of an epoch")


@T.test(3, "data", "the data are moved once", hint="Before the first epoch all of x and y can go to the device: a batch is a pointer into them.")
def _(t):
    rows, ins, outs = 6, 3, 2
    for epochs in (1, 4):
        reply = train(t, t.quarters(rows * ins), t.quarters(rows * outs), [0.0] * (ins * outs), 2, epochs=epochs, outputs=outs)
        t.at_most(reply["uploaded"][0], rows * (ins + outs), "numbers moved to the device")


@T.test(2, "memory", "memory of the device is taken once and given back",
        hint="Take all memory before the first epoch, by Buffer, which gives it back by itself.")
def _(t):
    few, many = (train(t, [1.0] * 6, [2.0] * 6, [0.0], 2, epochs=epochs) for epochs in (1, 3))
    t.equal(many["events"].count("a"), few["events"].count("a"), "allocations in three epochs, compared with one,")
    t.equal(many["held"], [0], "allocations that were not released")


@T.test(2, "cpu", "the same on a CPU", hint="The loop knows nothing of the kind of device: all goes through the two interfaces.")
def _(t):
    x, y = t.quarters(10), t.quarters(5)
    gpu, cpu = (train(t, x, y, [0.0, 0.0], 2, epochs=2, lr=0.015625, device=device) for device in ("gpu", "cpu"))
    for what in ("losses", "w", "rows"):
        t.equal(cpu[what], gpu[what], what + " on a CPU")
    t.check(len(gpu["losses"]) == 2, "there must be a loss for each of the two epochs")
