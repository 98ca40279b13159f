"""Hidden tests of task 3.4."""
import math

from judge.testing import hidden, public


@hidden("3.4", of="tail", test="random lengths", title="random lengths", hint="Try lengths up to 6000.")
def _(t):
    for n in sorted(t.random.randint(1, 6000) for _ in range(6)):
        x = t.quarters(n, -999, 999)
        t.equal(t.run(x=x)["sums"], [sum(x[i:i + 256]) for i in range(0, n, 256)], "sums")
    for bits in (25, 31, 33):
        public("3.4").queued(t, 2 ** bits + t.random.randint(1, 9999))


@hidden("3.4", of="tree", test="larger tree", title="wavefronts of more blocks", hint="Try 10 blocks.")
def _(t):
    reply = t.run(x=t.quarters(10 * 256), findings=True)
    if not t.on_gpu:
        t.check(reply.total("barriers") >= 10 and reply.total("shared_loads") > 0, "no exchange through shared memory")
        t.at_most(reply.total("shared_wavefronts"), 10 * 45, "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("3.4", of="several blocks", test="many blocks", title="1,100,000 elements, in one launch", hint="As many blocks as the elements need.")
def _(t):
    x = t.quarters(10007) * 110
    reply = t.run(x=x)
    t.equal(reply["sums"], [sum(x[i:i + 256]) for i in range(0, len(x), 256)], "sums")
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")


@hidden("3.4", of="fractions", test="not finite", title="infinity and NaN at any place", hint="0 stands where no element is: a product with 0 may be NaN.")
def _(t):
    inf, nan = math.inf, math.nan
    t.equal(t.run(x=[1.5] * 300 + [inf])["sums"], [384.0, inf], "sums")
    for first in (inf, -inf, nan):
        t.equal(t.run(x=[1.5] * 512 + [first, 1.0])["sums"], [384.0, 384.0, first], "sums")
    for value in (inf, -inf, nan):
        for at in sorted(t.random.sample(range(600), 5)):
            x = [1.5] * 600
            x[at] = value
            t.equal(t.run(x=x)["sums"], [sum(x[i:i + 256]) for i in range(0, 600, 256)], "sums")
    t.equal(t.run(x=[inf, -inf] + [1.0] * 300)["sums"], [nan, 46.0], "sums")
    t.equal(t.run(x=[1.5] * 299 + [-inf, inf])["sums"], [384.0, nan], "sums")


@hidden("3.4", of="one block", test="blocks of other numbers", title="256 other numbers, five times", hint="Halve the number of threads that add in each step.")
def _(t):
    for _ in range(5):
        public("3.4").summed(t, 256)


@hidden("3.4", of="loads", test="loads of other lengths", title="n loads, a store a block, of 9 blocks", hint="Load each element once; one thread of a block stores its sum.")
def _(t):
    n = 8 * 256 + 99
    reply = public("3.4").summed(t, n)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), n, "loads from global memory")
        t.at_most(reply.total("global_stores"), 9, "stores to global memory")
        t.at_most(reply.total("atomics"), 0, "atomic operations")


@hidden("3.4", of="sectors", test="sectors of other lengths", title="sectors at the minimum, of 11 blocks", hint="Neighbouring threads load neighbouring elements.")
def _(t):
    reply = public("3.4").summed(t, 11 * 256)
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), 11 * (256 / 8 + 1), "sectors", reply.worst("sectors"))


@hidden("3.4", of="banks", test="banks of other lengths", title="no bank conflicts, of 5 blocks and a part", hint="Let the threads that add use neighbouring words of shared memory.")
def _(t):
    reply = public("3.4").summed(t, 5 * 256 + 70)
    if not t.on_gpu:
        t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("3.4", of="one block", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        public("3.4").summed(t, 256, shift=shift)
        public("3.4").summed(t, t.random.randint(257, 900), shift=shift)
