"""Tests of task 3.7."""
from judge.testing import task

T = task("3.7", "A matrix product by tiles", 20, "3_cuda/3.7_matmul_tiled.cu", exports=["course::gpu::matmul_tiled"])


def product(t, m, n, k):
    a, b = t.whole(m * k), t.whole(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@T.test(3, "one tile", "matrices of 16 x 16", hint="One block computes one tile of c, one thread one element.")
def _(t):
    product(t, 16, 16, 16)


@T.test(3, "whole tiles", "sizes that are multiples of 16", hint="Each step along k loads one tile of a and one of b.")
def _(t):
    for m, n, k in [(16, 16, 64), (32, 16, 16), (16, 48, 16), (48, 32, 64)]:
        product(t, m, n, k)


@T.test(4, "edges", "sizes that 16 does not divide",
        hint="Threads outside of a or b put 0 into the tile; threads outside of c store nothing.")
def _(t):
    for m, n, k in [(1, 1, 1), (1, 1, 17), (17, 1, 1), (1, 17, 3), (15, 33, 18)]:
        product(t, m, n, k)


@T.test(6, "loads", "each element is loaded once for each tile", hint="Load into shared memory, and compute from there.")
def _(t):
    m, n, k = 64, 48, 32
    for launch in product(t, m, n, k).launches:
        t.at_most(launch.global_loads, 2 * m * n * k / 16, "loads from global memory")


@T.test(4, "banks", "no bank conflicts", hint="Let threadIdx.x go along the rows of the tiles.")
def _(t):
    for launch in product(t, 32, 32, 32).launches:
        t.at_most(launch.shared_turns, launch.least_turns, "turns of shared memory")
