"""Tests of task 6.6."""
from judge.testing import task

T = task("6.6", "Transpose and histogram", 15, "6_extra/6.6_transpose.cu", exports=["course::gpu::transpose", "course::gpu::histogram"], extra=True)


def transpose(t, rows, columns):
    """The reply for a matrix whose numbers say where they stand."""
    x = [i + j / 1024 for i in range(rows) for j in range(columns)]
    reply = t.run(x=x, rows=rows, columns=columns)
    t.equal(reply["out"], [i + j / 1024 for j in range(columns) for i in range(rows)], "out")
    return reply


def histogram(t, values, bins):
    """The reply, whose counts are right."""
    reply = t.run(values=values, bins=bins)
    expected = [0] * bins
    for each in values:
        if 0 <= each < bins:
            expected[each] += 1
    t.equal(reply["counts"], expected, "counts", before=1000)
    return reply


@T.test(3, "transpose", "rows become columns", hint="out has `columns` rows of `rows` numbers: element (j, i) is at j * rows + i.")
def _(t):
    for rows, columns in ((1, 1), (1, 3), (2, 3), (3, 2), (32, 32), (64, 32)):
        transpose(t, rows, columns)


@T.test(2, "edges", "sizes that no tile divides", hint="A tile at the edge has fewer rows or columns: ask for both, when it is loaded and when it is stored.")
def _(t):
    for rows, columns in ((33, 31), (31, 70), (1, 100), (100, 1), (65, 97)):
        transpose(t, rows, columns)


@T.test(2, "sectors", "loads and stores of neighbours: as few sectors as there can be", hint="Load a tile along the rows of x, and store it along the rows of out: shared memory turns it.")
def _(t):
    for rows, columns in ((64, 96), (128, 32), (72, 40)):
        reply = transpose(t, rows, columns)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("sectors"), 2 * rows * columns / 8, "sectors", reply.worst("sectors"))


@T.test(2, "banks", "no bank conflicts", hint="Numbers of a column of a 32 x 32 tile lie in one bank: make its rows a number longer.")
def _(t):
    reply = transpose(t, 64, 96)
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@T.test(3, "histogram", "how often each value stands there", hint="Two threads may count the same bin at once: atomicAdd.")
def _(t):
    for values, bins in (([0], 1), ([2, 0, 2, 1, 2], 4), ([3] * 300, 5), ([i * i % 17 for i in range(5000)], 17), ([i % 1024 for i in range(3000)], 1024)):
        histogram(t, values, bins)


@T.test(1, "other values", "values that are no bin, and none at all", hint="Count a value only where 0 <= value < bins. counts held other numbers before.")
def _(t):
    histogram(t, [], 3)
    histogram(t, [-1, 0, 3, 2, 1000000, -2000000000, 2], 3)


@T.test(2, "adds", "a block counts in shared memory: few additions in global memory", hint="Count in shared memory, and add what a block has counted with one atomicAdd for each bin.")
def _(t):
    n, bins = 16384, 32
    reply = histogram(t, [i * 7 % bins for i in range(n)], bins)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 2, "launches")
        t.at_most(reply.total("global_stores"), bins + n / 16, "stores and atomic operations in global memory")
        t.at_most(reply.total("global_loads"), n + n / 16, "loads from global memory")
