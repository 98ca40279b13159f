"""Tests of task 3.5."""
import math

from judge.testing import Op2, task

T = task("3.5", "A reduction", 15, "3_cuda/3.5_reduce.cu", exports=["course::gpu::reduce"])

ADD, SUB, MUL, DIV, MAXIMUM = Op2
BLOCK, PARTS = 256, 32


def run(t, op, start, x, rows, n, **more):
    return t.run(op=op, start=[start], rows=rows, n=n, x=x, **more)


def summed(t, rows, n, **more):
    x = t.quarters(rows * n)
    reply = run(t, ADD, 0.0, x, rows, n, **more)
    t.equal(reply["results"], [float(sum(x[r * n:r * n + n])) for r in range(rows)], "out")
    return reply


def queued(t, rows, n):
    """So many rows that the simulator would need minutes: a device must take all grids, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=1, rows=rows, n=n)


@T.test(2, "short rows", "rows that are shorter than a block", hint="A thread without an element folds `start`.")
def _(t):
    for rows, n in [(1, 1), (1, 2), (3, 1), (2, 3), (5, 4), (3, 33), (4, 100)]:
        summed(t, rows, n)


@T.test(2, "any length", "rows of a few blocks", hint="A thread folds several elements before the block's tree begins.")
def _(t):
    for rows, n in [(1, 256), (1, 257), (2, 500), (3, 512), (2, 1000), (1, 1025)]:
        summed(t, rows, n)


@T.test(2, "long rows", "more elements in a row than kParts blocks have threads",
        hint="With kParts blocks a row, the threads of all of them share the row; a second launch folds the parts.")
def _(t):
    for rows, n in [(1, PARTS * BLOCK), (1, PARTS * BLOCK + 1), (2, 20011)]:
        summed(t, rows, n)


@T.test(2, "operations", "products, and maxima of negative numbers, down to -infinity",
        hint="Begin with `start`, also in threads and parts that have no element.")
def _(t):
    for n in (3, 300):
        x = [-float(t.random.randint(5, 90)) for _ in range(2 * n)]
        x[n - 1], x[2 * n - 1] = -4.0, -3.0
        t.equal(run(t, MAXIMUM, -math.inf, x, 2, n)["results"], [max(x[:n]), max(x[n:])], "maxima")
        x = [t.random.choice((-1.0, 1.0)) for _ in range(2 * n)]
        x[n - 1], x[2 * n - 1] = 3.0, 5.0
        t.equal(run(t, MUL, 1.0, x, 2, n)["results"], [math.prod(x[:n]), math.prod(x[n:])], "products")
    t.equal(run(t, MAXIMUM, -math.inf, [-2.0 ** 120, -2.0 ** 121, -math.inf, -math.inf], 2, 2)["results"], [-2.0 ** 120, -math.inf], "maxima")
    t.equal(run(t, MAXIMUM, -math.inf, [-3.0, 0.0, -1.0, -4.0], 2, 2)["results"], [0.0, -1.0], "maxima")
    t.equal(run(t, MUL, 1.0, [2.0, 0.0, -3.0, 5.0], 2, 2)["results"], [0.0, -15.0], "products")


@T.test(1, "empty rows", "rows without elements", hint="What is folded from nothing is `start`.")
def _(t):
    for rows in (1, 3):
        t.equal(run(t, ADD, 0.0, [], rows, 0)["results"], [0.0] * rows, "sums")
        t.equal(run(t, MUL, 1.0, [], rows, 0)["results"], [1.0] * rows, "products")


@T.test(2, "same bits", "the same bits each time and beside other rows; no atomics",
        hint="Let each block write its result to a place of its own, and fold these in a fixed order.")
def _(t):
    for n in (90, 1500, 9000):
        # Sums that are 0 but for what is rounded away: another order nearly always shows in each of six.
        rows = []
        for _ in range(6):
            half = t.floats(n // 2)
            rows.append(half + [-each for each in half])
            t.random.shuffle(rows[-1])
        alone = [run(t, ADD, 0.0, row, 1, n)["results"][0] for row in rows]
        # A right sum may err: 9000 additions one after the other, to sums of some 50, were 1.5e-4 off. A term lost is 0.01 off.
        t.close(alone, [0.0] * 6, "out", 1e-3)
        for height in {90: (1, 2, 6, 42, 300), 1500: (1, 2, 6, 42, 150), 9000: (1, 2, 6)}[n]:
            reply = run(t, ADD, 0.0, [each for r in range(height) for each in rows[r % 6]], height, n)
            t.equal(reply["results"], [alone[r % 6] for r in range(height)], "sums of rows, bit for bit as of each row alone")
            if not t.on_gpu:
                t.at_most(reply.total("atomics"), 0, "atomic operations")
        for op, start in ((MUL, 1.0), (MAXIMUM, -math.inf)):
            reply = run(t, op, start, [1.0] * n, 1, n)
            if not t.on_gpu:
                t.at_most(reply.total("atomics"), 0, "atomic operations")


@T.test(2, "sectors", "each element is loaded once, and neighbouring threads take neighbours",
        hint="The threads of a warp should load elements of a row that lie side by side.")
def _(t):
    for rows, n in [(64, 128), (64, 256), (4, 4096), (1, 9608)]:
        reply = summed(t, rows, n)
        if not t.on_gpu:
            # 8 elements a sector. Each of a row's parts is stored and loaded by itself at worst, and one result stored.
            t.at_most(reply.total("global_loads"), rows * (n + PARTS), "loads from global memory")
            t.at_most(reply.total("sectors"), rows * (n / 8 + 2 * PARTS + 1), "sectors", reply.worst("sectors"))


@T.test(2, "spread", "a long row is shared by kParts blocks, in at most two launches, and 70,000 rows are not too many",
        hint="A GPU has many processors, and a block uses one: give a long row to several blocks. A grid has at most 65,535 blocks "
             "along y and z, and 2^31 - 1 along x.")
def _(t):
    for rows, n in [(1, PARTS * BLOCK), (1, PARTS * BLOCK + 1), (2, 2 * PARTS * BLOCK)]:
        reply = summed(t, rows, n)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 2, "launches")
            working = max(each.threads - each.idle_threads for each in reply.launches)
            t.check(working >= rows * PARTS * BLOCK,
                    f"threads at work: found {working}, expected at least {rows * PARTS * BLOCK}")
    for rows, n in [(70000, 1), (70000, 300), (70000, PARTS * BLOCK), (1, 2 ** 31 + 1000)]:
        queued(t, rows, n)
    if t.on_gpu:
        summed(t, 70000, 1)
    else:  # the simulator takes a minute where a block has a row
        x = t.quarters(70000)
        reply = t.begins(may_end=True, op=ADD, start=[0.0], rows=70000, n=1, x=x)
        if reply is not None:
            t.equal(reply["results"], x, "out")
