"""Tests of task 3.3."""
import array
import math

from judge.testing import EXTREMES2, OF_EXTREMES2, Op2, place, positions, task

T = task("3.3", "A strided zip", 10, "3_cuda/3.3_zip_strided.cu", exports=["course::gpu::zip_strided"])

ADD, SUB, MUL, DIV, MAXIMUM = Op2
GAP = -777.0  # what the memory of out holds before


def last(sizes, strides):
    return place([each - 1 for each in sizes], strides)


def element(memory, position, sizes, strides):
    return memory[place([i if size > 1 else 0 for i, size in zip(position, sizes)], strides)]


def added(t, sizes, out_strides, x_sizes, x_strides, y_sizes, y_strides, op=ADD, **more):
    """x holds the number of each place in memory, and y a thousand times that: a sum tells both apart, and so does a difference."""
    x = [float(i + 1) for i in range(1 + last(x_sizes, x_strides))]
    y = [1000.0 * (i + 1) for i in range(1 + last(y_sizes, y_strides))]
    memory = [GAP] * (1 + last(sizes, out_strides))
    expected = list(memory)
    for p in positions(sizes):
        expected[place(p, out_strides)] = element(x, p, x_sizes, x_strides) + (-1 if op == SUB else 1) * element(y, p, y_sizes, y_strides)
    reply = t.run(out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, y_sizes=y_sizes,
                  y_strides=y_strides, op=op, memory=memory, x=x, y=y, **more)
    t.equal(reply["memory"], expected, "memory of out", GAP)
    return reply


def queued(t, sizes):
    """So many elements that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    strides = [math.prod(sizes[d + 1:]) for d in range(len(sizes))]
    if not t.on_gpu:
        t.run(queued=1, out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=strides, y_sizes=sizes, y_strides=strides)


def line(t, n):
    return added(t, [n], [1], [n], [1], [n], [1])


@T.test(1, "contiguous", "contiguous tensors of equal sizes", hint="Find the position first, then a place in each operand.")
def _(t):
    line(t, 5)
    added(t, [2, 3], [3, 1], [2, 3], [3, 1], [2, 3], [3, 1])


@T.test(1, "operations", "each of the five operations, x before y, also of infinity and NaN", hint="apply(op, x, y) computes any of them, whatever x and y are.")
def _(t):
    x, y = [7.0, -2.0, 9.0, 5.0], [2.0, 4.0, -3.0, 3.0]
    for op, expected in [(ADD, [9, 2, 6, 8]), (SUB, [5, -6, 12, 2]), (MUL, [14, -8, -27, 15]), (DIV, [3.5, -0.5, -3, 5 / 3]),
                         (MAXIMUM, [7, 4, 9, 5])]:
        reply = t.run(out_sizes=[4], out_strides=[1], x_sizes=[4], x_strides=[1], y_sizes=[4], y_strides=[1], op=op,
                      memory=[GAP] * 4, x=x, y=y)
        t.equal(reply["memory"], list(array.array("f", expected)), "out")
    for op, expected in OF_EXTREMES2.items():
        reply = t.run(out_sizes=[6], out_strides=[1], x_sizes=[6], x_strides=[1], y_sizes=[6], y_strides=[1], op=op,
                      memory=[GAP] * 6, x=EXTREMES2[0], y=EXTREMES2[1])
        t.equal(reply["memory"], expected, "out")


@T.test(2, "strides", "one of the three is transposed", hint="x, y and out have strides of their own.")
def _(t):
    rows, columns = [3, 1], [1, 2]
    for out_strides, x_strides, y_strides in [(rows, columns, rows), (rows, rows, columns), (columns, rows, rows)]:
        added(t, [2, 3], out_strides, [2, 3], x_strides, [2, 3], y_strides)
    added(t, [2, 3, 4, 2], [24, 8, 2, 1], [2, 3, 4, 2], [1, 2, 6, 24], [2, 3, 4, 2], [12, 4, 1, 24])
    heads, rows = [24, 2, 6, 1], [24, 8, 2, 1]  # the two dimensions in the middle are exchanged, as heads of attention
    for out_strides, x_strides, y_strides in [(rows, heads, rows), (rows, rows, heads), (heads, rows, rows)]:
        added(t, [2, 3, 4, 2], out_strides, [2, 3, 4, 2], x_strides, [2, 3, 4, 2], y_strides)


@T.test(1, "gaps", "between out's elements lies memory of others", hint="Write at out's own places, and nowhere else.")
def _(t):
    added(t, [4], [3], [4], [1], [4], [2])
    added(t, [3, 2], [7, 2], [3, 2], [2, 1], [3, 2], [2, 1])
    added(t, [3, 2], [5, 2], [3, 2], [5, 2], [3, 2], [5, 2])


@T.test(2, "stride 0", "an operand repeats by a stride of 0", hint="A stride of 0 needs no special case in the kernel.")
def _(t):
    added(t, [3, 4], [4, 1], [3, 4], [4, 1], [3, 4], [0, 1])
    added(t, [3, 4], [4, 1], [3, 4], [1, 0], [3, 4], [4, 1])
    added(t, [3, 4], [4, 1], [3, 4], [1, 0], [3, 4], [0, 1])
    added(t, [3, 4], [4, 1], [3, 4], [0, 1], [3, 4], [0, 1])


@T.test(1, "size 1", "an operand repeats by a size of 1",
        hint="Where an operand has size 1, its one element counts for each index, whatever the stride.")
def _(t):
    added(t, [3, 4], [4, 1], [1, 4], [4, 1], [3, 4], [4, 1], SUB)
    added(t, [3, 4], [4, 1], [3, 4], [4, 1], [3, 1], [1, 1])
    added(t, [2, 3, 4], [12, 4, 1], [2, 1, 1], [1, 5, 7], [1, 3, 4], [12, 4, 1])


@T.test(1, "many", "more elements than a block has threads; a grid for 70,000 rows, or columns",
        hint="Each element of out is computed once, by one thread. A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for n in (256, 257, 2000):
        line(t, n)
    added(t, [33, 40], [40, 1], [33, 40], [1, 0], [33, 40], [0, 1])
    for sizes in ([2 ** 24 + 1], [70000, 1], [70000, 2], [2, 70000], [3, 70000, 2]):
        queued(t, sizes)


@T.test(1, "loads", "2 n loads and n stores, in one launch; sectors at the minimum",
        hint="Load one element of x and one of y for each element of out; neighbouring threads take neighbours.")
def _(t):
    n, rows = 32 * 64, [64, 1]
    reply = added(t, [32, 64], rows, [32, 64], rows, [32, 64], rows)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")
        t.at_most(reply.total("global_loads"), 2 * n, "loads from global memory")
        t.at_most(reply.total("global_stores"), n, "stores to global memory")
        t.at_most(reply.total("sectors"), 3 * n / 8, "sectors", reply.worst("sectors"))
