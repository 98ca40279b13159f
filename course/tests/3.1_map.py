"""Tests of task 3.1."""
import math

from judge.testing import EXTREMES1, OF_EXTREMES1, Op1, task

T = task("3.1", "A kernel on each element", 8, "3_cuda/3.1_map.cu", exports=["course::gpu::map"])

NEG, EXP, LOG, RELU, SIGMOID, TANH, SQUARE, IDENTITY = Op1


FUNCTIONS = {NEG: lambda v: -v, EXP: math.exp, LOG: math.log, RELU: lambda v: max(v, 0.0), SIGMOID: lambda v: 1 / (1 + math.exp(-v)),
             TANH: math.tanh, SQUARE: lambda v: v * v, IDENTITY: lambda v: v}


def negated(t, n, **more):
    x = t.quarters(n)
    reply = t.run(op=NEG, x=x, **more)
    t.equal(reply["out"], [-each for each in x], "out")
    return reply


def queued(t, n):
    """So many elements that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=n)


@T.test(1, "one block", "as many elements as a block has threads", hint="Thread i computes out[i] from x[i].")
def _(t):
    negated(t, 256)


@T.test(1, "several blocks", "multiples of 256 elements",
        hint="The number of an element follows from blockIdx.x, the block's size and threadIdx.x.")
def _(t):
    for n in (512, 1280):
        negated(t, n)


@T.test(2, "any length", "no elements, lengths that 256 does not divide, and memory that begins at any float; a grid for 2^31 elements",
        hint="Launch enough threads for the last elements; those that are too many do nothing. An address is a multiple of 4 bytes, no more. "
             "A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for n in (0, 1, 2, 31, 33, 255, 257, 1000):
        negated(t, n)
    for shift in (1, 2, 3):
        negated(t, 256, shift=shift)
    for n in (2 ** 24 + 1, 2 ** 31 + 1000):
        queued(t, n)


@T.test(1, "operations", "each of the eight operations, also in place, and of infinity and NaN",
        hint="apply(op, x) computes any of them, whatever x is; call it in the kernel.")
def _(t):
    x = [0.5, 2.0, 1.0, 2.0 ** -20] * 64
    for op, value in FUNCTIONS.items():
        t.close(t.run(op=op, x=x)["out"], [value(each) for each in x], "out", least=0)
    t.equal(t.run(op=RELU, x=[-1.0, 3.0] * 128)["out"], [0.0, 3.0] * 128, "out")
    t.equal(t.run(op=SQUARE, x=[-1.0, 3.0] * 128, in_place=1)["out"], [1.0, 9.0] * 128, "out, which is x")
    for op, expected in OF_EXTREMES1.items():
        t.close(t.run(op=op, x=(EXTREMES1 * 37)[:256])["out"], (expected * 37)[:256], "out")


@T.test(1, "loads", "n loads and n stores, in one launch", hint="A thread loads its element once, and stores once.")
def _(t):
    n = 768
    reply = negated(t, n)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")
        t.at_most(reply.total("global_loads"), n, "loads from global memory")
        t.at_most(reply.total("global_stores"), n, "stores to global memory")


@T.test(2, "sectors", "n / 8 sectors are read and n / 8 written",
        hint="Neighbouring threads of a warp should take neighbouring elements.")
def _(t):
    for n in (2048, 4096):
        reply = negated(t, n)
        if not t.on_gpu:  # a sector has 32 bytes: 8 elements
            t.at_most(reply.total("sectors"), 2 * n / 8, "sectors", reply.worst("sectors"))
