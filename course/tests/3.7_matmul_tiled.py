"""Tests of task 3.7."""
import math

from judge.testing import task

T = task("3.7", "A matrix product by tiles", 20, "3_cuda/3.7_matmul_tiled.cu", exports=["course::gpu::matmul_tiled"])


def product(t, m, n, k, **more):
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k, **more)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


def queued(t, m, n, k):
    """A c so large that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=1, m=m, n=n, k=k)


@T.test(2, "one tile", "matrices of 16 x 16", hint="One block computes one tile of c, one thread one element.")
def _(t):
    product(t, 16, 16, 16)


@T.test(2, "several tiles", "k = 16, and a c of several tiles", hint="blockIdx says which tile of c a block computes.")
def _(t):
    for m, n in [(32, 16), (16, 48), (48, 32)]:
        product(t, m, n, 16)


@T.test(3, "long k", "several steps along k", hint="A tile may be filled again when all threads have read it.")
def _(t):
    for m, n, k in [(16, 16, 32), (16, 16, 64), (48, 32, 48)]:
        product(t, m, n, k)


@T.test(3, "edges of c", "m and n that 16 does not divide; grids for 500,000 rows or columns",
        hint="Threads outside of c still fill the tiles and meet the barriers; they store nothing.")
def _(t):
    for m, n in [(1, 1), (17, 16), (16, 17), (15, 33)]:
        product(t, m, n, 16)
    for m, n in [(500000, 20), (20, 500000)]:
        queued(t, m, n, 16)


@T.test(2, "edges of k", "k that 16 does not divide, also with infinity", hint="Where a or b has no element, put 0 into the tile, into both of them.")
def _(t):
    for k in (1, 5, 15):
        product(t, 16, 32, k)
    for at in (3, 16):
        ones, row = [1.0] * 17 * 16, [1.0] * at + [math.inf] + [1.0] * (16 - at)
        for a, b in ((row * 16, ones), (ones, [each for each in row for _ in range(16)])):
            t.equal(t.run(a=a, b=b, m=16, n=16, k=17)["c"], [math.inf] * 256, "c")


@T.test(4, "loads", "each element is loaded once for each tile, at edges too", hint="Load into shared memory, and compute from there, also where a tile is not full.")
def _(t):
    product(t, 64, 48, 16)
    for m, n, k in [(64, 48, 16), (48, 64, 24), (39, 50, 16)]:
        reply = t.run(a=t.quarters(m * k), b=t.quarters(k * n), m=m, n=n, k=k, findings=True)  # results at edges are for other tests
        if not t.on_gpu:
            t.at_most(reply.total("global_loads"), m * k * -(-n // 16) + k * n * -(-m // 16), "loads from global memory")


@T.test(2, "sectors", "neighbouring threads load neighbours", hint="Let threadIdx.x go along the rows of a, b and c.")
def _(t):
    m, n, k = 32, 48, 16
    reply = product(t, m, n, k)
    if not t.on_gpu:  # 2 m n k / 16 loads and m n stores, 8 elements a sector
        t.at_most(reply.total("sectors"), (2 * m * n * k / 16 + m * n) / 8, "sectors", reply.worst("sectors"))


@T.test(2, "banks", "no bank conflicts", hint="Let threadIdx.x go along the rows of the tiles. A warp has two rows of 16 words: they fill all 32 banks as they are, "
             "and rows of 17 words put two of them into one bank.")
def _(t):
    m, n, k = 32, 32, 16
    reply = product(t, m, n, k)
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("global_loads"), 2 * m * n * k / 16, "loads from global memory")
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))
