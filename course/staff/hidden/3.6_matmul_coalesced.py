"""Hidden tests of task 3.6."""
import math

from judge.testing import hidden, public


@hidden("3.6", of="shapes", test="random shapes", title="random multiples of 32, and any k", hint="Try k from 1 to 70.")
def _(t):
    for _ in range(3):
        m, n, k = 32 * t.random.randint(1, 3), 32 * t.random.randint(1, 3), t.random.randint(1, 70)
        a, b = t.quarters(m * k), t.quarters(k * n)
        t.is_product(t.run(a=a, b=b, m=m, n=n, k=k)["c"], a, b, m, n, k)


@hidden("3.6", of="sectors", test="other sectors", title="sectors of other sizes", hint="Try 96 x 64 and k = 24.")
def _(t):
    m, n, k = 96, 64, 24
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), m * n * k / 32 * 5 + m * n / 8, "sectors", reply.worst("sectors"))


@hidden("3.6", of="loads", test="edges", title="one launch, and no load too many at edges", hint="A thread outside of c loads nothing.")
def _(t):
    for m, n, k in [(33, 37, 9), (7, 100, 40), (200, 3, 11), (5, 7, 1100)]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        reply = t.run(a=a, b=b, m=m, n=n, k=k)
        t.is_product(reply["c"], a, b, m, n, k)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 2 * m * n * k, "loads from global memory")
            t.at_most(reply.total("global_stores"), m * n, "stores to global memory")


@hidden("3.6", of="shapes", test="larger shapes", title="k = 700 and 1301, and 300 rows", hint="Nothing limits m, n and k.")
def _(t):
    for m, n, k in [(33, 34, 700), (310, 33, 5), (5, 330, 6), (3, 5, 1301)]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        t.is_product(t.run(a=a, b=b, m=m, n=n, k=k)["c"], a, b, m, n, k)


@hidden("3.6", of="shapes", test="not finite", title="0 times infinity is NaN, in its own row and column alone",
        hint="Leave no product out, and multiply nothing that lies outside: 0 times infinity is NaN.")
def _(t):
    inf, nan = math.inf, math.nan
    reply = t.run(a=[0.0, 1.0, 2.0, inf], b=[inf, 3.0, 2.0, inf], m=2, n=2, k=2)
    t.equal(reply["c"], [nan, inf, inf, inf], "c")


@hidden("3.6", of="edge below", test="many rows", title="70,000 rows, and grids for up to 500,000",
        hint="A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for m in (t.random.randint(262141, 499999), 500000):
        public("3.6").queued(t, m, t.random.randint(1, 4000), 3)
    a = t.quarters(70000)
    reply = t.begins(may_end=True, a=a, b=[2.0], m=70000, n=1, k=1)
    if reply is not None:
        t.equal(reply["c"], [2 * each for each in a], "c")


@hidden("3.6", of="square", test="other squares", title="square matrices of other sizes", hint="c[i, j] is the sum over p of a[i, p] b[p, j].")
def _(t):
    for size in (16, 48, 96):
        public("3.6").product(t, size, size, size)


@hidden("3.6", of="edge to the right", test="other edges to the right", title="random numbers of columns", hint="Threads to the right of c neither load nor store.")
def _(t):
    for _ in range(4):
        public("3.6").product(t, 32, t.random.randint(1, 90), t.random.randint(1, 12))


@hidden("3.6", of="edge to the right", test="many columns", title="70,000 columns, and grids for up to 500,000",
        hint="A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for n in (t.random.randint(262141, 499999), 500000):
        public("3.6").queued(t, t.random.randint(1, 4000), n, 3)
    b = t.quarters(70000)
    reply = t.begins(may_end=True, a=[2.0], b=b, m=1, n=70000, k=1)
    if reply is not None:
        t.equal(reply["c"], [2 * each for each in b], "c")


@hidden("3.6", of="square", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        public("3.6").product(t, 32, 32, 32, shift=shift)
