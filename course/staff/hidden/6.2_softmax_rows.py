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
    compare(t, 2003, 2, -2, 2)


@hidden("6.2", of="known", test="two values", title="rows of two values, random counts", hint="exp(log 3) is 3: divide it by the sum of the row.")
def _(t):
    for _ in range(6):
        few, many, ratio = t.random.randint(1, 9), t.random.randint(1, 200), t.random.randint(2, 9)
        x = [math.log(ratio)] * few + [0.0] * many
        out = t.run(x=x, rows=1, columns=few + many)["out"]
        t.close(out, [ratio / (ratio * few + many)] * few + [1 / (ratio * few + many)] * many, "out")


@hidden("6.2", of="large", test="other large numbers", title="rows far above and far below 0", hint="exp(x - maximum) is at most 1, for any x.")
def _(t):
    for middle in (700.0, -700.0, 60000.0, -60000.0):
        x = [middle + each for each in t.quarters(90)]
        t.close(t.run(x=x, rows=1, columns=90)["out"], expected(x), "out")
    for x in ([-2.5e38] * 300, [-3.4e38, -3e38, -3.4e38], [-3e38] * 40 + [3e38] * 2):
        t.close(t.run(x=x, rows=1, columns=len(x))["out"], expected(x), "out")


@hidden("6.2", of="masked", test="masked anywhere", title="-infinity at random places, of several rows", hint="A thread may see nothing but -infinity.")
def _(t):
    for columns in (3, 70, 900):
        x = [each if t.random.random() < 0.1 else -math.inf for each in t.floats(3 * columns, -900, 900)]
        for r in range(3):
            x[r * columns + t.random.randrange(columns)] = -5.0 * r
        out = t.run(x=x, rows=3, columns=columns)["out"]
        t.close(out, [each for r in range(3) for each in expected(x[r * columns:(r + 1) * columns])], "out")
    for columns in (2, 33, 700):
        x = [0.0] * columns + [2.0] * columns + [-math.inf] * (columns - 1) + [1.0]
        x[columns + t.random.randrange(columns)] = math.nan
        t.close(t.run(x=x, rows=3, columns=columns)["out"], [1 / columns] * columns + [math.nan] * columns + [0.0] * (columns - 1) + [1.0], "out")


@hidden("6.2", of="stores", test="stores of long rows", title="n numbers, of rows of 3000", hint="Only the result is stored.")
def _(t):
    reply = t.run(x=t.floats(6000), rows=2, columns=3000)
    if not t.on_gpu:
        t.at_most(sum(each.global_store_bytes for each in reply.launches), 4 * 6000, "bytes stored")


@hidden("6.2", of="sectors", test="sectors of longer rows", title="neighbours take neighbours in rows of 1024", hint="Thread i takes the elements i, i + blockDim.x, ... of a row.")
def _(t):
    for launch in t.run(x=t.floats(3072), rows=3, columns=1024).launches:
        t.at_most(launch.sectors, launch.least_sectors, "sectors", launch.worst_sectors)


@hidden("6.2", of="rows", test="more rows", title="70,000 rows", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    t.begins(seconds=0.3, may_end=True, x=[1.0] * 70000, rows=70000, columns=1)
