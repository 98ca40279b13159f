"""Hidden tests of task 6.2."""
import math

from judge.testing import hidden


def expected(row):
    top = max(row)
    terms = [math.exp(each - top) for each in row]
    return [each / math.fsum(terms) for each in terms]


def compare(t, rows, columns, low, high):
    x = t.floats(rows * columns, low, high)
    out = t.run(x=x, rows=rows, columns=columns)["out"]
    for r in range(rows):
        t.close(out[r * columns:(r + 1) * columns], expected(x[r * columns:(r + 1) * columns]), f"row {r}", 1e-6)


@hidden("6.2", of="rising", test="random rows", title="random rows, far apart", hint="Try random numbers from -30 to 30.")
def _(t):
    for rows, columns in [(2, 7), (3, 130), (2, 900)]:
        compare(t, rows, columns, -30, 30)


@hidden("6.2", of="loads", test="long rows", title="rows that no registers hold", hint="Try rows of 6000 numbers.")
def _(t):
    reply = t.run(x=t.floats(6000), rows=1, columns=6000)
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in reply.launches) / 4, 12000, "numbers loaded from global memory")


@hidden("6.2", of="rows", test="long rows", title="rows of 11,000 numbers, and many rows", hint="Nothing limits the length of a row.")
def _(t):
    compare(t, 1, 11003, -3, 3)
    compare(t, 2, 1500, -8, 8)
    compare(t, 700, 5, -2, 2)
