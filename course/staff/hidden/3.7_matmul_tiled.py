"""Hidden tests of task 3.7."""
import math

from judge.testing import hidden, public


def product(t, m, n, k):
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@hidden("3.7", of="edges of c", test="random edges", title="random m and n, and grids for large ones", hint="Try m and n from 1 to 70, k = 16. A grid has at most 65,535 blocks along y and z.")
def _(t):
    for _ in range(4):
        product(t, t.random.randint(1, 70), t.random.randint(1, 70), 16)
    few, many = t.random.randint(1, 4000), t.random.randint(262141, 500000)
    for m, n in [(few, many), (many, few), (500000, 1), (1, 500000)]:
        public("3.7").queued(t, m, n, 5)


@hidden("3.7", of="loads", test="longer k", title="more steps, and the loads of all of them", hint="Try k = 96.")
def _(t):
    m, n, k = 48, 32, 96
    reply = product(t, m, n, k)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), 2 * m * n * k / 16, "loads from global memory")


@hidden("3.7", of="loads", test="loads at edges", title="one launch, and tiles at edges too", hint="All blocks work alike; only what lies outside is not loaded.")
def _(t):
    for m, n, k in [(33, 50, 20), (40, 17, 37), (5, 7, 1100)]:
        reply = product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), m * k * -(-n // 16) + k * n * -(-m // 16), "loads from global memory")
            t.at_most(reply.total("global_stores"), m * n, "stores to global memory")


@hidden("3.7", of="long k", test="larger sizes", title="k = 500 and 1301, and 300 rows", hint="Nothing limits m, n and k.")
def _(t):
    for m, n, k in [(17, 20, 500), (300, 18, 9), (9, 310, 21), (3, 5, 1301)]:
        product(t, m, n, k)


@hidden("3.7", of="edges of c", test="not finite", title="0 times infinity is NaN, in its own row and column alone",
        hint="Leave no product out, and multiply nothing that lies outside: 0 times infinity is NaN.")
def _(t):
    inf, nan = math.inf, math.nan
    reply = t.run(a=[0.0, 1.0, 2.0, inf], b=[inf, 3.0, 2.0, inf], m=2, n=2, k=2)
    t.equal(reply["c"], [nan, inf, inf, inf], "c")


@hidden("3.7", of="one tile", test="tiles of other numbers", title="16 x 16 x 16, three times", hint="One block computes one tile of c, one thread one element.")
def _(t):
    for _ in range(3):
        product(t, 16, 16, 16)


@hidden("3.7", of="several tiles", test="other tiles", title="k = 16, and a c of many tiles", hint="blockIdx says which tile of c a block computes.")
def _(t):
    for m, n in [(64, 16), (16, 96), (80, 112)]:
        product(t, m, n, 16)


@hidden("3.7", of="edges of k", test="other edges of k", title="random k beside whole tiles", hint="Where a or b has no element, put 0 into the tile.")
def _(t):
    for _ in range(4):
        product(t, 32, 16, t.random.randint(1, 60))


@hidden("3.7", of="sectors", test="sectors of other sizes", title="neighbours load neighbours, of 48 x 64 x 32", hint="Let threadIdx.x go along the rows of a, b and c.")
def _(t):
    m, n, k = 48, 64, 32
    reply = product(t, m, n, k)
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), (2 * m * n * k / 16 + m * n) / 8, "sectors", reply.worst("sectors"))


@hidden("3.7", of="banks", test="banks of other sizes", title="no bank conflicts, of 48 x 16 x 64", hint="Let threadIdx.x go along the rows of the tiles.")
def _(t):
    reply = product(t, 48, 16, 64)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), 2 * 48 * 16 * 64 / 16, "loads from global memory")
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("3.7", of="edges of k", test="not finite at edges of k", title="infinity and NaN in one step, beside edges of k, and infinity times 0",
        hint="Put 0 into both tiles where k ends: what they held in the step before may be infinite.")
def _(t):
    for k in (3, 17, 35):
        for value in (math.inf, math.nan):
            for at in range(k):
                ones, other = [1.0] * k, [1.0] * k
                other[at] = value
                t.equal(t.run(a=ones, b=other, m=1, n=1, k=k)["c"], [value], "c")
                t.equal(t.run(a=other, b=ones, m=1, n=1, k=k)["c"], [value], "c")
    t.equal(t.run(a=[math.inf, 1.0], b=[0.0, 2.0], m=1, n=1, k=2)["c"], [math.nan], "c")


@hidden("3.7", of="one tile", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        public("3.7").product(t, 16, 16, 16, shift=shift)
