"""Tests of task 1.6."""
from judge.testing import task

T = task("1.6", "A matrix product by blocks", 20, "1_cpu/1.6_matmul_blocked.cpp", exports=["course::cpu::matmul_blocked"],
         given=["core/cache.cpp"], calls=["course::load_cached", "course::store_cached"])

BLOCK, LINE = 32, 16  # kBlock in core/cpu.h; floats in a line of the cache
LARGEST = 52  # three blocks of 52 x 52 floats are the largest that fit in 32 KiB
COPIES = "copies in memory of your own are not counted, so they may hold one block at a time"


def product(t, m, n, k, counted=1, before=0.0):
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(m=m, n=n, k=k, a=a, b=b, counted=counted, memory=[before] * (m * n))
    t.is_product(reply["c"], a, b, m, n, k, "out")


def misses(t, m, n, k):
    """Those of out, a and b. The matrices hold zeros, since their product is no question here."""
    matrices = dict(m=m, n=n, k=k, a=[0.0] * (m * k), b=[0.0] * (k * n), memory=[0.0] * (m * n))
    own = t.run(**matrices, counted=0)["own bytes"][0]
    t.check(own <= 3 * LARGEST * LARGEST * 8, f"{own} bytes of memory of your own were held at a time, more than three blocks of double have: {COPIES}")
    reply = t.run(**matrices, counted=1)
    for name, accesses in zip("ab", reply["accesses"][1:]):
        t.check(accesses >= m * n * k / LARGEST, f"{name} was read {accesses} times, less than once for each product of blocks: {COPIES}")
    for name, run in zip("ab", reply["runs"][1:]):
        t.check(run <= LARGEST * LARGEST, f"{run} elements of {name} were read one after the other, more than a block has: {COPIES}")
    return reply["misses"]


@T.test(2, "one block", "matrices of 32 x 32", hint="Within a block this is the product of task 1.4.")
def _(t):
    product(t, BLOCK, BLOCK, BLOCK, counted=0)
    product(t, BLOCK, BLOCK, BLOCK)


@T.test(3, "whole blocks", "sizes that are multiples of 32",
        hint="Each block of out is a sum over k / 32 pairs of blocks: add them up, and begin with 0 only once.")
def _(t):
    for m, n, k in [(32, 32, 64), (64, 32, 32), (32, 96, 32), (64, 96, 128)]:
        product(t, m, n, k)


@T.test(4, "edges", "sizes that 32 does not divide", hint="The last block along m, n or k may be smaller: it ends where the matrix ends.")
def _(t):
    for m, n, k in [(1, 1, 1), (1, 33, 2), (33, 1, 2), (2, 3, 33), (31, 40, 47), (65, 34, 33)]:
        product(t, m, n, k, counted=0)
        product(t, m, n, k)


@T.test(2, "stale out", "out held other numbers before", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in [1000.0, float("nan")]:
        product(t, 32, 32, 32, before=before)
        product(t, 64, 32, 32, before=before)
        product(t, 35, 34, 33, before=before)


@T.test(5, "misses", "blocks stay in the cache: 3 blocks of 32 x 32 are loaded for each product of two blocks",
        hint="Loop over blocks outside and within blocks inside; where each element of out is finished before the next, k must be cut "
             "too: one block of each matrix fits.")
def _(t):
    for m, n, k in [(96, 96, 96), (64, 64, 512)]:
        # mnk / 32^3 products of blocks; a block has 32 * 32 / 16 lines. Twice out on top: to set it to 0, and to write it.
        t.at_most(sum(misses(t, m, n, k)), 3 * m * n * k / (LINE * BLOCK) + 2 * m * n / LINE, f"cache misses with m, n, k = {m}, {n}, {k}")


@T.test(4, "out stays", "a block of out stays in the cache until it is complete",
        hint="Which of the three loops over blocks must be the innermost, so that the same block of out is used again?")
def _(t):
    for m, n, k in [(96, 96, 96), (64, 128, 96), (128, 128, 64), (64, 64, 512)]:
        found = misses(t, m, n, k)
        t.at_most(found[0], 2 * m * n / LINE, f"cache misses of out with m, n, k = {m}, {n}, {k}")
        t.at_most(sum(found), 2 * m * n * k / (LINE * BLOCK) + 2 * m * n / LINE, f"cache misses with m, n, k = {m}, {n}, {k}")
