"""Tests of task 5.3."""
import math

from judge.testing import task

T = task("5.3", "A data parallel step", 25, "5_parallel/5.3_data_parallel.cpp", exports=["course::data_parallel_step"])


def step(t, replicas, x, y, w, lr=1.0, order=None, y_width=1):
    """A step of models whose gradient is the sum of y * x over the rows."""
    return t.run(x=x, y=y, w=w, rows=len(y) // y_width, lr=lr, order=order or list(range(replicas)), y_width=y_width)


def places(t, replicas, rows, x_width, y_width, counts):
    """A batch that may have more numbers than there is memory for: gradient looks at its pointers alone."""
    reply = t.run(x=[], y=[], w=[0.0], rows=rows, lr=1.0, order=list(range(replicas)), y_width=y_width, x_width=x_width)
    t.equal(reply["firsts"], [sum(counts[:i]) for i in range(replicas)], "first row of each replica")
    t.equal(reply["counts"], counts, "rows of each replica")


def specials(t, replicas, bad):
    """One row's gradient is NaN in the first weight and infinite in the second one."""
    rows = 2 * replicas
    x = [value for row in range(rows) for value in ((math.nan, math.inf, 3.0) if row == bad else (1.0, 2.0, 3.0))]
    found = step(t, replicas, x, [1.0] * rows, [8.0, -2.0, 1.0])["w"]
    t.equal(found, [math.nan, -math.inf, -2.0] * replicas, "weights of all replicas")


@T.test(4, "equal shards", "as many rows for each replica", hint="Add up the gradients of all replicas, divide once by the rows of the whole batch.")
def _(t):
    for replicas, y, w in [(1, [2.0], -2.0), (2, [1.0, 3.0], -2.0), (2, [1.0, 2.0, 3.0, 4.0], -2.5), (4, [4.0, 8.0, 0.0, 4.0], -4.0)]:
        t.close(step(t, replicas, [1.0] * len(y), y, [0.0])["w"][0], w, "weight of replica 0")


@T.test(4, "shards", "which rows each replica gets", hint="Part i begins where part i - 1 ends; the first rows % replicas parts have one row more. Rows and widths are long.")
def _(t):
    for replicas, rows, firsts, counts in [(2, 4, [0, 2], [2, 2]), (2, 5, [0, 3], [3, 2]), (4, 10, [0, 3, 6, 8], [3, 3, 2, 2]),
                                           (3, 8, [0, 3, 6], [3, 3, 2])]:
        for width in (1, 3):
            reply = step(t, replicas, [0.0] * (rows * 2), [0.0] * (rows * width), [0.0, 0.0], y_width=width)
            t.equal(reply["firsts"], firsts, "first row of each replica")
            t.equal(reply["counts"], counts, "rows of each replica")
    for x_width, y_width in [(2 ** 30, 1), (1, 2 ** 30)]:
        places(t, 2, 5, x_width, y_width, [3, 2])


@T.test(4, "mean", "the mean of all rows, where the shards differ",
        hint="A mean of the replicas' means would count the rows of a smaller shard for more.")
def _(t):
    for replicas, y, w in [(2, [1.0, 2.0, 6.0], -3.0), (3, [1.0, 3.0, 4.0, 8.0], -4.0), (2, [0.0, 0.0, 10.0, 0.0, 0.0], -2.0)]:
        t.close(step(t, replicas, [1.0] * len(y), y, [0.0])["w"][0], w, "weight of replica 0")


@T.test(3, "few rows", "fewer rows than replicas", hint="A replica without rows computes no gradient, and changes its weights like others.")
def _(t):
    for replicas, y, w, calls in [(3, [2.0, 4.0], -3.0, [1, 1, 0]), (4, [8.0], -8.0, [1, 0, 0, 0])]:
        reply = step(t, replicas, [1.0] * len(y), y, [0.0])
        t.equal(reply["calls"], calls, "gradients of each replica")
        t.close(reply["w"], [w] * replicas, "weights of all replicas")


@T.test(4, "all replicas", "every weight of every replica changes alike", hint="The new weights must be in each replica, or the next step begins with old ones. A mean that is NaN makes its weight NaN.")
def _(t):
    for replicas in (2, 3, 17):
        rows = 2 * replicas
        x, y = [value for _ in range(rows) for value in (1.0, 2.0, -4.0)], [3 + row - (rows - 1) / 2 for row in range(rows)]
        expected = [8 - 0.5 * 3, -2 - 0.5 * 6, 1 + 0.5 * 12]
        t.close(step(t, replicas, x, y, [8.0, -2.0, 1.0], lr=0.5)["w"], expected * replicas, "weights of all replicas")
    for bad in (0, 3):
        specials(t, 2, bad)


@T.test(4, "bits", "the same bits, whichever replica ends first",
        hint="Give every replica a place of its own for its gradient, and add them up when all are there, from the first to the last. "
             "Divide the sum by the rows, then multiply by lr.")
def _(t):
    # 1e8 + 1 is 1e8 in float32: the order of the sum decides whether 1 is lost.
    big = 1e8
    for y, w in [([big, 1.0, -big], 0.0), ([big, -big, 3.0], -1.0), ([1.0, big, -big], 0.0)]:
        for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
            t.close(step(t, 3, [1.0] * 3, y, [0.0], order=order)["w"][0], w, f"weight, with the replicas ending in the order {order}")
    t.close(step(t, 4, [1.0] * 4, [2.0, 2.0, big, -big], [0.0])["w"][0], 0.0, "weight of four replicas, added up one after the other,")
    # The quotient is rounded, and then its product with 0.1: the other order gives other bits.
    for y, w in [([16.0, 38.0, 35.0], -2.9666666984558105), ([24.0, 31.0, 31.0, 19.0, 27.0], -2.640000104904175)]:
        t.equal(step(t, len(y), [1.0] * len(y), y, [0.0], lr=0.1)["w"][0], w, "weight, by lr * (sum / rows) with lr = 0.1,")


@T.test(2, "at the same time", "all replicas compute at the same time", hint="Body i of for_each computes the gradient of replica i, and no other.")
def _(t):
    reply = step(t, 4, [1.0] * 8, [1.0] * 8, [0.0], order=[3, 1, 0, 2])
    t.equal(reply["bodies"], [0, 1, 2, 3], "bodies of for_each in which the replicas computed (-1: outside)")
