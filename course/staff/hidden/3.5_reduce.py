"""Hidden tests of task 3.5."""
import math

from judge.testing import Op2, hidden, public

OPERATIONS = ((Op2.add, 0.0), (Op2.mul, 1.0), (Op2.maximum, -math.inf))


@hidden("3.5", of="any length", test="random rows", title="random numbers of rows of random lengths",
        hint="Try up to 8 rows of up to 2000 elements.")
def _(t):
    for _ in range(5):
        rows, n = t.random.randint(1, 8), t.random.randint(257, 2000)
        x = t.quarters(rows * n)
        t.equal(t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")


@hidden("3.5", of="long rows", test="longer rows", title="longer rows", hint="Try a row of 400,000 elements.")
def _(t):
    for rows, n in [(1, 400009), (3, 8193 + t.random.randint(0, 2000))]:
        x = t.quarters(rows * n, -4, 4)
        t.equal(t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")


@hidden("3.5", of="spread", test="launches of short rows", title="at most two launches for rows of every length",
        hint="Let a block's number say which row is its own: one launch does all rows.")
def _(t):
    for rows, n in [(40, 9), (12, 700), (301, 40), (2, 9000)]:
        x = t.quarters(rows * n)
        reply = t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)
        t.equal(reply["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")
        if not t.on_gpu:
            t.at_most(len(reply.launches), 2, "launches")
            t.at_most(reply.total("atomics"), 0, "atomic operations")


@hidden("3.5", of="same bits", test="beside many rows", title="the same bits beside 130 other rows",
        hint="How a row is cut may depend on its length, not on the number of rows.")
def _(t):
    rows = []
    for _ in range(6):
        half = t.floats(400)
        rows.append(half + [-each for each in half])
        t.random.shuffle(rows[-1])
    alone = [t.run(op=Op2.add, start=[0.0], rows=1, n=800, x=row)["results"][0] for row in rows]
    found = t.run(op=Op2.add, start=[0.0], rows=130, n=800, x=[each for r in range(130) for each in rows[r % 6]])["results"]
    t.equal(found, [alone[r % 6] for r in range(130)], "sums of rows, bit for bit as of each row alone")


@hidden("3.5", of="operations", test="not finite", title="sums and maxima of infinity", hint="Begin with `start`, not with a large number.")
def _(t):
    x = [-math.inf] * 5 + [math.inf] + [-math.inf] * 4
    t.equal(t.run(op=Op2.maximum, start=[-math.inf], rows=2, n=5, x=x)["results"], [-math.inf, math.inf], "maxima")
    t.equal(t.run(op=Op2.add, start=[0.0], rows=2, n=5, x=x)["results"], [-math.inf, math.nan], "sums")
    x = t.random.sample([-2.0, 0.0, 4.0, 0.5, math.inf, -2.0, 4.0, 0.5], 4) + t.random.sample([0.0, -2.0, 4.0], 3) + [3.0]
    t.equal(t.run(op=Op2.mul, start=[1.0], rows=2, n=4, x=x)["results"], [math.prod(x[:4]), 0.0], "products")


@hidden("3.5", of="short rows", test="other short rows", title="random rows that are shorter than a block", hint="A thread without an element folds `start`.")
def _(t):
    for _ in range(6):
        public("3.5").summed(t, t.random.randint(1, 9), t.random.randint(1, 200))


@hidden("3.5", of="empty rows", test="other empty rows", title="many rows without elements", hint="What is folded from nothing is `start`.")
def _(t):
    for rows in (2, 17, 300):
        for op, start in OPERATIONS:
            t.equal(public("3.5").run(t, op, start, [], rows, 0)["results"], [start] * rows, "out")


@hidden("3.5", of="sectors", test="sectors of other rows", title="each element is loaded once, of other sizes", hint="The threads of a warp load elements that lie side by side.")
def _(t):
    for rows, n in [(20, 512), (2, 6144)]:
        reply = public("3.5").summed(t, rows, n)
        if not t.on_gpu:
            t.at_most(reply.total("global_loads"), rows * (n + 32), "loads from global memory")
            t.at_most(reply.total("sectors"), rows * (n / 8 + 2 * 32 + 1), "sectors", reply.worst("sectors"))


@hidden("3.5", of="spread", test="work of all operations", title="launches, blocks and loads of long rows, by every operation",
        hint="kParts blocks share a row of any length from kParts * kBlock on, whatever the operation.")
def _(t):
    for op, start in OPERATIONS:
        for rows, n in [(1, 8192), (2, 8192 + 256 * t.random.randint(0, 27) + 8 * t.random.randint(1, 31))]:  # rows begin with a sector, and 32nds of them do not
            x = [1.0] * (rows * n)
            x[-1] = 2.0
            reply = public("3.5").run(t, op, start, x, rows, n)
            last = n + 1.0 if op == Op2.add else 2.0
            t.equal(reply["results"], [float(n) if op == Op2.add else 1.0, last][-rows:], "out")
            if not t.on_gpu:
                t.at_most(len(reply.launches), 2, "launches")
                t.at_most(reply.total("atomics"), 0, "atomic operations")
                t.at_most(reply.total("global_loads"), rows * (n + 32), "loads from global memory")
                t.at_most(reply.total("sectors"), rows * (n / 8 + 2 * 32 + 1), "sectors", reply.worst("sectors"))
                working = max(each.threads - each.idle_threads for each in reply.launches)
                t.check(working >= rows * 8192, f"threads at work: found {working}, expected at least {rows * 8192}")


@hidden("3.5", of="sectors", test="sectors of all operations", title="coalesced loads, by every operation", hint="Neighbouring threads take neighbours, whatever the operation.")
def _(t):
    for op, start in OPERATIONS:
        for rows, n in [(32, 128), (16, 248), (6, 1024)]:
            reply = public("3.5").run(t, op, start, [1.0] * (rows * n), rows, n)
            t.equal(reply["results"], [float(n) if op == Op2.add else 1.0] * rows, "out")
            if not t.on_gpu:
                t.at_most(len(reply.launches), 2, "launches")
                t.at_most(reply.total("atomics"), 0, "atomic operations")
                t.at_most(reply.total("global_loads"), rows * (n + 32), "loads from global memory")
                t.at_most(reply.total("sectors"), rows * (n / 8 + 2 * 32 + 1), "sectors", reply.worst("sectors"))


@hidden("3.5", of="same bits", test="bits of products", title="the same bits of products beside other rows", hint="The order of a row's operations depends on its length alone.")
def _(t):
    for n in (300, 9000):
        rows = [t.floats(n, 0.99, 1.01) for _ in range(4)]
        alone = [public("3.5").run(t, Op2.mul, 1.0, row, 1, n)["results"][0] for row in rows]
        for height in (3, 9):
            found = public("3.5").run(t, Op2.mul, 1.0, [each for r in range(height) for each in rows[r % 4]], height, n)["results"]
            t.equal(found, [alone[r % 4] for r in range(height)], "products of rows, bit for bit as of each row alone")


@hidden("3.5", of="operations", test="one number in long rows", title="the one number that counts is at any place of a long row", hint="No element may be left out, whatever the operation.")
def _(t):
    for n in (255, 4000, 10001):
        for op, start, rest, other in ((Op2.add, 0.0, 0.0, -2.5), (Op2.mul, 1.0, 1.0, -2.5), (Op2.maximum, -math.inf, -9.0, -2.5), (Op2.add, 0.0, 1.0, math.nan),
                                       (Op2.mul, 1.0, 1.0, 0.0), (Op2.mul, 1.0, 1.0, math.nan)):
            for at in (0, t.random.randrange(n), n - 1):
                x = [rest] * (2 * n)
                x[n + at] = other
                results = public("3.5").run(t, op, start, x, 2, n)["results"]
                t.equal(results[1], other, "out[1]")


@hidden("3.5", of="any length", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        for rows, n in [(3, 8), (2, 512), (1, 8192)]:
            public("3.5").summed(t, rows, n, shift=shift)


@hidden("3.5", of="spread", test="many rows", title="1,203 rows of 3 numbers, and grids for up to a million rows", hint="A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    public("3.5").summed(t, 1203, 3)
    for n in (0, 2, 257, 4000, 9001):
        public("3.5").queued(t, t.random.randint(65536, 999999), n)
    public("3.5").queued(t, 2, 2 ** 32 + 1000)
