"""Tests of task 6.2."""
import math

from judge.testing import task

T = task("6.2", "Softmax in one pass", 25, "6_extra/6.2_softmax_rows.cu", exports=["course::gpu::softmax_rows"], extra=True)


def softmax(t, rows, columns, x):
    return t.run(x=x, rows=rows, columns=columns)


def holds(t, rows, columns, x):
    """The two properties that only a softmax has: a row sums to 1, and two elements have the ratio exp(their difference)."""
    out = softmax(t, rows, columns, x)["out"]
    for r in range(rows):
        row, given = out[r * columns:(r + 1) * columns], x[r * columns:(r + 1) * columns]
        t.close(math.fsum(row), 1.0, f"the sum of row {r}")
        top = given.index(max(given))
        for i in range(columns):
            expected = math.exp(given[i] - given[top]) * row[top]
            if not abs(row[i] - expected) <= 1e-5 * max(expected, 1e-6):
                t.fail(f"row {r}: elements {i} and {top} are {given[i]:g} and {given[top]:g}, and become {row[i]:g} and "
                       f"{row[top]:g}; the first should be {expected:g}")


@T.test(3, "known", "rows with a known softmax", hint="exp(log 3) is 3: divide it by the sum of the row.")
def _(t):
    for x, expected in [([5.0], [1.0]), ([2.0, 2.0], [0.5, 0.5]), ([0.0, 0.0, 0.0, 0.0], [0.25] * 4),
                        ([0.0, math.log(3)], [0.25, 0.75]), ([math.log(2), 0.0, math.log(5)], [0.25, 0.125, 0.625])]:
        t.close(softmax(t, 1, len(x), x)["out"], expected, "out")


@T.test(4, "rows", "rows of all lengths", hint="A block takes a row; its threads take a part each, whatever the length.")
def _(t):
    for rows, columns in [(1, 3), (3, 1), (5, 31), (2, 128), (3, 257), (2, 1000), (70, 4)]:
        # From great to small: no sum of a thread needs another scale.
        x = [value for _ in range(rows) for value in sorted(t.floats(columns), reverse=True)]
        holds(t, rows, columns, x)


@T.test(3, "large", "numbers whose exp() no float holds", hint="exp(x - maximum) is at most 1, for any x.")
def _(t):
    for x in ([1000.0, 999.0], [-1000.0, -1000.0, -1001.0], [-3e38, -3e38], [3e38, 0.0, 3e38]):
        holds(t, 1, len(x), x)


@T.test(4, "rising", "the maximum changes on the way",
        hint="The sum so far belongs to the old maximum: multiply it by exp(old maximum - new maximum).")
def _(t):
    for columns in (2, 5, 33, 400):
        holds(t, 1, columns, [12.0 * i / columns for i in range(columns)])
    holds(t, 3, 700, t.floats(2100, -8, 8))


@T.test(2, "masked", "-infinity becomes 0; NaN is no mask",
        hint="A thread may see nothing but -infinity: exp(-infinity - -infinity) is NaN. Begin with a finite maximum. A row with NaN is all NaN.")
def _(t):
    low = -math.inf
    for x in ([0.0, low], [low, 1.0], [low] * 40 + [0.0, 0.0], [1.0] + [low] * 600):
        out = softmax(t, 1, len(x), x)["out"]
        top = x.count(max(x))
        t.equal(out, [0.0 if value == low else 1.0 / top for value in x], "out")
    for x in ([math.nan, 0.0, 1.0], [0.0, math.nan, low], [0.0] * 200 + [math.nan]):
        t.equal(softmax(t, 1, len(x), x)["out"], [math.nan] * len(x), "out")


@T.test(3, "stores", "only the result is stored, n numbers",
        hint="Maxima and sums stay in registers and shared memory, the terms of the sum nowhere.")
def _(t):
    rows, columns = 3, 320
    reply = softmax(t, rows, columns, t.floats(rows * columns))
    if not t.on_gpu:
        t.at_most(sum(each.global_store_bytes for each in reply.launches), 4 * rows * columns, "bytes stored")


@T.test(4, "loads", "two passes: at most 2 n loads",
        hint="One pass finds the maximum and the sum together, the other writes the result.")
def _(t):
    rows, columns = 3, 320
    reply = softmax(t, rows, columns, t.floats(rows * columns))
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in reply.launches) / 4, 2 * rows * columns,
                  "numbers loaded from global memory")


@T.test(2, "sectors", "neighbouring threads take neighbouring elements",
        hint="Thread i takes the elements i, i + blockDim.x, ... of a row.")
def _(t):
    for launch in softmax(t, 4, 320, t.floats(1280)).launches:
        t.at_most(launch.sectors, launch.least_sectors, "sectors", launch.worst_sectors)
