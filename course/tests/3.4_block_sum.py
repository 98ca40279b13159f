"""Tests of task 3.4."""
import math

from judge.testing import task

T = task("3.4", "A sum in each block", 12, "3_cuda/3.4_block_sum.cu", exports=["course::gpu::block_sum"])

BLOCK = 256


def summed(t, n, **more):
    x = t.quarters(n, -99, 99)
    reply = t.run(x=x, **more)
    t.equal(reply["sums"], [float(sum(x[i:i + BLOCK])) for i in range(0, n, BLOCK)], "sums")
    return reply


def queued(t, n):
    """So many elements that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=n)


@T.test(1, "one block", "256 elements", hint="Halve the number of threads that add in each step, with a barrier between.")
def _(t):
    t.equal(t.run(x=[1.0] * BLOCK)["sums"], [256.0], "sums")
    summed(t, BLOCK)


@T.test(2, "several blocks", "multiples of 256 elements", hint="Block b sums its own 256 elements into out[b].")
def _(t):
    for n in (2 * BLOCK, 5 * BLOCK):
        summed(t, n)


@T.test(2, "tail", "no elements, and lengths that 256 does not divide; a grid for 2^31 elements",
        hint="A thread without an element still takes part: it puts 0 into shared memory. "
             "A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for n in (0, 1, 2, 31, 100, 255, 257, 600, 1023):
        summed(t, n)
    for n in (2 ** 24 + 1, 2 ** 31 + 1000):
        queued(t, n)


@T.test(1, "fractions", "numbers that are not whole, infinity and NaN", hint="Sums are float, as the elements are: with NaN the sum is NaN.")
def _(t):
    t.equal(t.run(x=[0.25, 0.5, -1.125])["sums"], [-0.375], "sums")
    t.equal(t.run(x=[0.5] * 3 * BLOCK)["sums"], [128.0] * 3, "sums")
    t.equal(t.run(x=[1.0, math.nan, 2.0])["sums"], [math.nan], "sums")
    t.equal(t.run(x=[1.0, math.inf, 2.0])["sums"], [math.inf], "sums")
    t.equal(t.run(x=[0.5] * BLOCK + [math.inf])["sums"], [128.0, math.inf], "sums")


@T.test(1, "loads", "n loads, a store a block, no atomics",
        hint="Load each element once; one thread of a block stores its sum.")
def _(t):
    n = 3 * BLOCK + 17
    reply = summed(t, n)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), n, "loads from global memory")
        t.at_most(reply.total("global_stores"), 4, "stores to global memory")
        t.at_most(reply.total("atomics"), 0, "atomic operations")


@T.test(1, "sectors", "sectors at the minimum", hint="Neighbouring threads load neighbouring elements.")
def _(t):
    blocks = 4
    reply = summed(t, blocks * BLOCK)
    if not t.on_gpu:  # 8 elements a sector, and the store of each block
        t.at_most(reply.total("sectors"), blocks * (BLOCK / 8 + 1), "sectors", reply.worst("sectors"))


@T.test(2, "banks", "no bank conflicts",
        hint="In each step, let the threads that add use neighbouring words of shared memory.")
def _(t):
    reply = summed(t, 2 * BLOCK)
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@T.test(2, "tree", "at most 45 wavefronts of shared memory a block",
        hint="Few warps at work: those that have nothing to add should be whole warps, and no thread adds all.")
def _(t):
    # 8 warps store 256 elements; a step of h additions takes two loads and a store of h / 32 warps (at least one),
    # for h = 128, 64, ..., 1: 3 (4 + 2 + 6) wavefronts; one load gives the result.
    blocks = 3
    reply = summed(t, blocks * BLOCK)
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("shared_wavefronts"), blocks * (8 + 3 * (4 + 2 + 6) + 1), "wavefronts of shared memory", reply.worst("wavefronts"))
