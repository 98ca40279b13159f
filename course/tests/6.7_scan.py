"""Tests of task 6.7."""
import itertools
import math

from judge.testing import task

T = task("6.7", "A scan in parallel", 15, "6_extra/6.7_scan.cu", exports=["course::gpu::scan"], extra=True)

CHUNK = 512


def scan(t, x):
    """The reply for these numbers, whose sums are exact."""
    reply = t.run(x=x)
    t.equal(reply["out"], list(itertools.accumulate(x)), "out")
    return reply


def many(t, n):
    """n multiples of 1/4, made at once."""
    return t.random.choices([each / 4 for each in range(-32, 33)], k=n)


@T.test(3, "scan", "a chunk or less", hint="out[i] is the sum of x[0] to x[i], with x[i] itself.")
def _(t):
    for x in ([2.5], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0], [0.0, -1.0, 0.25, 0.0]):
        scan(t, x)
    for n in (31, 64, 100, 500):
        scan(t, t.quarters(n))


@T.test(2, "edges", "around the end of a chunk, and none at all", hint="The last chunk may have few numbers: ask for n before each load and store.")
def _(t):
    for n in (0, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 1300):
        scan(t, t.quarters(n))


@T.test(3, "chunks", "many chunks", hint="What all chunks before this one sum to is added to each of its numbers. There may be more chunks than one block scans at once.")
def _(t):
    for n in (3 * CHUNK + 7, 20011):
        scan(t, t.quarters(n))
    reply = scan(t, many(t, 2 * CHUNK * CHUNK + 1500))
    t.at_most(len(reply.launches), 3, "launches")


@T.test(1, "infinity", "infinity and NaN change what follows them alone", hint="Never subtract from a sum what was added to it: infinity minus infinity is NaN.")
def _(t):
    for n, at in ((9, 4), (300, 150), (1200, 700)):
        x = t.quarters(n)
        x[at] = math.inf
        scan(t, x)
        x[at] = math.nan
        scan(t, x)


@T.test(2, "sectors", "each number is loaded twice and stored twice at most", hint="Neighbours of a warp load and store neighbours. A block's numbers stay in shared memory until they are done.")
def _(t):
    for n in (8192, 30000):
        reply = scan(t, many(t, n))
        if not t.on_gpu:
            t.at_most(len(reply.launches), 3, "launches")
            t.at_most(reply.total("sectors"), 4 * n / 8 + n / 16, "sectors", reply.worst("sectors"))


@T.test(2, "work", "additions by a tree: at most ten accesses of shared memory for each number",
        hint="A tree that adds up pairs has half as much to do at each level. What adds to all numbers at each level has nine levels of 512 additions.")
def _(t):
    for n in (8192, 30000):
        reply = scan(t, many(t, n))
        if not t.on_gpu:
            t.check(sum(each.threads for each in reply.launches) >= n / 64, "fewer than n / 64 threads share the work")
            t.at_most(reply.total("shared_loads") + reply.total("shared_stores"), 10 * n, "loads and stores of shared memory")


@T.test(2, "banks", "few bank conflicts", hint="Strides of 2, 4, 8, ... numbers share banks. Leave a gap after each 32 numbers.")
def _(t):
    reply = scan(t, many(t, 8192))
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("shared_wavefronts"), 1.25 * reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))
