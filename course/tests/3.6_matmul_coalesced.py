"""Tests of task 3.6."""
import math

from judge.testing import task

T = task("3.6", "A coalesced matrix product", 10, "3_cuda/3.6_matmul_coalesced.cu",
         exports=["course::gpu::matmul_coalesced"])


def product(t, m, n, k, **more):
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k, **more)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


def queued(t, m, n, k):
    """A c so large that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=1, m=m, n=n, k=k)


@T.test(1, "square", "square matrices", hint="c[i, j] is the sum over p of a[i, p] b[p, j].")
def _(t):
    for size in (32, 64):
        product(t, size, size, size)


@T.test(2, "shapes", "m, n and k differ; no product is left out", hint="a has rows of k elements, b and c have rows of n. A product with 0 counts, too.")
def _(t):
    for m, n, k in [(32, 64, 96), (96, 32, 64), (64, 96, 32), (32, 32, 1), (32, 32, 7)]:
        product(t, m, n, k)
    for a, b in ((0.0, math.inf), (math.inf, 0.0)):
        t.equal(t.run(a=[a, 1.0] * 32, b=[b] * 32 + [2.0] * 32, m=32, n=32, k=2)["c"], [math.nan] * 1024, "c, since 0 times infinity is NaN")


@T.test(1, "edge below", "rows that the blocks do not divide; a grid for 500,000 rows",
        hint="Threads below c must neither load nor store. A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for m in (1, 2, 5, 31, 33):
        product(t, m, 32, 8)
    queued(t, 500000, 32, 8)


@T.test(1, "edge to the right", "columns that the blocks do not divide; a grid for 500,000 columns",
        hint="Threads to the right of c must neither load nor store: their place would be in the next row.")
def _(t):
    for n in (1, 2, 5, 31, 33):
        product(t, 32, n, 8)
    queued(t, 32, 500000, 8)


@T.test(2, "loads", "2 m n k loads, and each element of c is stored once, by one launch", hint="Keep the sum in a local variable.")
def _(t):
    for m, n, k in [(32, 64, 16), (8, 32, 300)]:
        reply = product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 2 * m * n * k, "loads from global memory")
            t.at_most(reply.total("global_stores"), m * n, "stores to global memory")


@T.test(3, "sectors", "at most 5 sectors for 32 products",
        hint="Neighbouring threads, by threadIdx.x, should compute neighbouring elements of a row of c.")
def _(t):
    # A warp that computes 32 elements of a row of c loads one element of a and 32 neighbours of b in each step.
    for m, n, k in [(32, 32, 32), (64, 96, 16)]:
        reply = product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(reply.total("sectors"), m * n * k / 32 * 5 + m * n / 8, "sectors", reply.worst("sectors"))
