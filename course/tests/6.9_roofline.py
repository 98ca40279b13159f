"""Tests of task 6.9. Bytes are those that the simulator counts while a kernel runs."""
import math

from judge.testing import task

T = task("6.9", "The roofline", 20, "6_extra/6.9_roofline.cu",
         exports=[f"course::gpu::{name}" for name in ("work_of_axpy", "work_of_sum_rows", "work_of_matmul", "least_seconds", "bound_by_memory",
                                                      "least_tile", "axpy_two", "sum_rows_together")],
         given=["core/6_extra/6.9_kernels.cu"], extra=True)

H200 = 62_700_000_000_000, 4_110_000_000_000  # operations and bytes a second, both measured: docs/performance.md of Gradus
EVEN = 16_000_000, 1_000_000  # 16 operations for a byte


def moved(reply):
    """The bytes that the simulator has counted."""
    return 32 * reply.total("sectors")


def work(t, operations, runs=1, **sizes):
    """The work of a kernel of these sizes, beside what the simulator counts when it runs."""
    reply = t.run(runs=runs, **sizes)
    t.equal(reply["operations"], [operations], "operations")
    if runs and not t.on_gpu:
        t.equal(reply["bytes"], [moved(reply)], "bytes (expected: what the simulator counted)")
    return reply


def bound(t, does, chip, microseconds, memory):
    """Operations and bytes on a chip."""
    reply = t.run(work=does, chip=chip)
    t.close(reply["microseconds"], [microseconds], "least_seconds, in microseconds")
    t.equal(reply["bound by memory"], [memory], "bound_by_memory")


def tile(t, chip, expected):
    t.equal(t.run(work=[1, 1], chip=chip)["tile"], [expected], "least_tile")


def axpy_two(t, n):
    """The reply for numbers whose sums are exact."""
    y, u, v, (a, b) = t.quarters(n), t.quarters(n), t.quarters(n), t.quarters(2)
    reply = t.run(y=y, u=u, v=v, factors=[a, b])
    t.equal(reply["y"], [each + a * left + b * right for each, left, right in zip(y, u, v)], "y")
    return reply


def not_finite(t):
    """Two axpys multiply by a factor of 0, too: 0 times infinity is NaN, as in axpy()."""
    numbers, ones, nan = [math.nan, math.inf, 1.0], [1.0] * 3, math.nan
    for inputs in (dict(u=numbers, v=ones, factors=[0.0, 2.0]), dict(u=ones, v=numbers, factors=[2.0, 0.0])):
        t.equal(t.run(y=ones, **inputs)["y"], [nan, nan, 3.0], "y")


def sum_rows(t, rows, columns):
    """The reply for numbers whose sums are exact."""
    x = t.quarters(rows * columns)
    reply = t.run(x=x, rows=rows, columns=columns)
    t.equal(reply["out"], [sum(x[i * columns:i * columns + columns]) for i in range(rows)], "out")
    return reply


@T.test(2, "axpy", "the work of axpy", hint="It loads x and y and stores y. The last sector may be used in part, and moves as a whole.")
def _(t):
    for n, operations in ((8, 16), (32, 64), (1024, 2048), (1, 2), (9, 18), (1000, 2000), (1003, 2006)):
        work(t, operations, n=n)


@T.test(3, "rows", "the work of sums of rows", hint="At the same time a warp loads 32 numbers that lie a row apart: how many sectors are these?")
def _(t):
    for rows, columns, operations in ((1, 8, 8), (32, 8, 256), (33, 10, 330), (200, 31, 6200), (128, 64, 8192), (5, 100, 500)):
        work(t, operations, rows=rows, columns=columns)


@T.test(3, "product", "the work of products by tiles", hint="Each block loads a row of tiles of a and a column of tiles of b. How often is a number of a loaded?")
def _(t):
    for m, n, k, side, operations in ((8, 8, 8, 8, 1024), (16, 32, 64, 16, 65536), (32, 32, 32, 32, 65536), (32, 32, 32, 8, 65536), (96, 64, 32, 16, 393216),
                                      (16, 8, 80, 8, 20480)):
        work(t, operations, m=m, n=n, k=k, tile=side)


@T.test(1, "large", "sizes whose operations and bytes no int holds", hint="Multiply as doubles, or as longs.")
def _(t):
    for sizes, operations, moves in ((dict(m=8192, n=8192, k=16384, tile=32), 2 ** 41, 2 ** 38 + 2 ** 28), (dict(rows=100000, columns=100000), 10 ** 10, 320000400000),
                                     (dict(n=10 ** 10), 2 * 10 ** 10, 12 * 10 ** 10)):
        t.equal(work(t, operations, runs=0, **sizes)["bytes"], [moves], "bytes")


@T.test(3, "bounds", "the least time on a chip, and what bounds it", hint="A chip moves bytes while it computes, so the longer of both times counts.")
def _(t):
    bound(t, [16_000, 1_000], EVEN, 1000.0, 0)
    bound(t, [16_000, 2_000], EVEN, 2000.0, 1)
    bound(t, [32_000, 1_000], EVEN, 2000.0, 0)
    bound(t, [0, 500], EVEN, 500.0, 1)
    bound(t, [8_000, 1_000], (4_000_000, 1_000_000), 2000.0, 0)
    bound(t, [20_000, 1_000], (40_000_000, 1_000_000), 1000.0, 1)
    bound(t, [800, 0], EVEN, 50.0, 0)
    bound(t, [2 * 10 ** 9, 12 * 10 ** 9], H200, 2919.708, 1)  # axpy of 10^9 numbers
    bound(t, [2 ** 37, 2 ** 35 + 2 ** 26], H200, 8376.362, 1)  # a product of 4096 x 4096 matrices by tiles of 16
    bound(t, [2 ** 37, 2 ** 32 + 2 ** 26], H200, 2192.009, 0)  # by tiles of 128


@T.test(2, "tile", "which tile makes a product bound by arithmetic", hint="How many operations has a tile for each byte that it loads? Compare with those of the chip.")
def _(t):
    tile(t, (2_000_000, 1_000_000), 8)
    tile(t, EVEN, 64)
    tile(t, (16_000_001, 1_000_000), 72)
    tile(t, (15_999_999, 1_000_000), 64)
    tile(t, (1, 1_000_000), 8)
    tile(t, H200, 64)
    tile(t, (600_000_000_000, 1_000), 2_400_000_000)


@T.test(3, "fused", "two axpys in one kernel: y moves once", hint="Load u[i], v[i] and y[i], and store y[i]. A factor of 0 multiplies, too: 0 times infinity is NaN.")
def _(t):
    for n in (1, 7, 300, 4096):
        reply = axpy_two(t, n)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(moved(reply), 4 * 32 * ((n + 7) // 8), "bytes moved", reply.worst("sectors"))
    not_finite(t)


@T.test(3, "together", "sums of rows by whole sectors", hint="Let the threads of a warp add up one row together, and load neighbours at the same time.")
def _(t):
    for rows, columns in ((1, 8), (5, 32), (130, 24), (33, 200), (3, 1032)):
        reply = sum_rows(t, rows, columns)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(moved(reply), 4 * rows * columns + 32 * rows, "bytes moved", reply.worst("sectors"))
