"""Tests of task 1.3."""
import array
import math

from judge.testing import FAR, Op2, positions, place, task

T = task("1.3", "Reduce", 15, "1_cpu/1.3_reduce.cpp", exports=["course::cpu::reduce"])

ADD, SUB, MUL, DIV, MAXIMUM = Op2
POISON = -555.5  # behind x, and around the elements of out
STARTS = {ADD: 0.5, SUB: 100.0, MUL: 3.0, DIV: 4096.0, MAXIMUM: -math.inf}


def rounded(value):
    """The float32 number next to it."""
    return array.array("f", [value])[0]


FUNCTIONS = {ADD: lambda a, b: rounded(a + b), SUB: lambda a, b: rounded(a - b), MUL: lambda a, b: rounded(a * b), DIV: lambda a, b: rounded(a / b),
             MAXIMUM: lambda a, b: a if a > b else b}


def row_major(sizes):
    """Strides by known ends: those of [a, b, c] are [b * c, c, 1]."""
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


def reduces(t, sizes, dim, x, op=ADD, start=0.0, strides=None, out_strides=None, before=0.0):
    """The memory of out, 16 elements longer than out."""
    out_sizes = [1 if d == dim else size for d, size in enumerate(sizes)]
    out_strides = out_strides or row_major(out_sizes)
    reach = 1 + sum((size - 1) * stride for size, stride in zip(out_sizes, out_strides))
    return t.run(op=op, start=start, dim=dim, x=x + [POISON] * 64, x_sizes=sizes, x_strides=strides or row_major(sizes),
                 out_sizes=out_sizes, out_strides=out_strides, memory=[before] * (max(1, reach) + 16))["memory"]


def sums(t, sizes, dim, expected, **more):
    """Adds the numbers 0, 1, 2, ... along dim."""
    x = [float(i) for i in range(math.prod(sizes))]
    t.equal(reduces(t, sizes, dim, x, **more)[:len(expected)], [float(each) for each in expected], "out (x holds 0, 1, 2, ...)")


@T.test(3, "last dimension", "the sum of each row", hint="One element of out for each row; it begins with start.")
def _(t):
    sums(t, [1], 0, [0])
    sums(t, [5], 0, [10])
    sums(t, [2, 3], 1, [3, 12])
    sums(t, [2, 2, 3], 2, [3, 12, 21, 30])


@T.test(2, "each dimension", "sums along the first dimension, and along one in the middle",
        hint="The elements that belong together lie x's stride of dim apart, as many as x's size of dim.")
def _(t):
    sums(t, [2, 3], 0, [3, 5, 7])
    sums(t, [2, 3, 2], 1, [6, 9, 24, 27])
    sums(t, [2, 3, 2], 0, [6, 8, 10, 12, 14, 16])
    sums(t, [2, 1, 2, 3], 2, [3, 5, 7, 15, 17, 19])
    sums(t, [2, 1], 1, [0, 1])
    powers = [2.0, 4.0, 1.0, 8.0, 16.0, 0.5]  # of which every result is exact
    for op, expected in [(SUB, [90.0, 80.0, 98.5]), (MUL, [48.0, 192.0, 1.5]), (DIV, [256.0, 64.0, 8192.0]), (MAXIMUM, [8.0, 16.0, 1.0])]:
        t.equal(reduces(t, [2, 3], 0, powers, op=op, start=STARTS[op])[:3], expected, f"{op} along dimension 0")


@T.test(1, "negative", "the maximum of negative numbers, and a product",
        hint="What the result begins with is an argument: 0 is right for a sum, for no other operation.")
def _(t):
    found = reduces(t, [2, 2], 1, [-3.0, -5.0, -8.0, -1.0], op=MAXIMUM, start=-math.inf)
    t.equal(found[:2], [-3.0, -1.0], "out")
    t.equal(reduces(t, [3], 0, [2.0, -3.0, 4.0], op=MUL, start=1.0)[:1], [-24.0], "out")
    t.equal(reduces(t, [2], 0, [1.0, 2.0], op=MAXIMUM, start=5.0)[:1], [5.0], "out")
    t.equal(reduces(t, [2], 0, [-1.0, 0.0], op=MAXIMUM, start=-math.inf)[:1], [0.0], "out")
    t.equal(reduces(t, [3], 0, [2.0, 0.0, 4.0], op=MUL, start=1.0)[:1], [0.0], "out")
    t.equal(reduces(t, [2], 0, [2.0, 2.0], op=MUL, start=3.0)[:1], [12.0], "3 times 2 times 2")


@T.test(1, "not finite", "sums, products and maxima of infinity and NaN",
        hint="Let apply(op, so far, next) compute each step, to the end: it says what a maximum is beside NaN, and 0 times infinity is NaN.")
def _(t):
    for x, total, maximum in [([2.0, math.nan], math.nan, math.nan), ([math.nan, 2.0], math.nan, 2.0), ([math.inf, 1.0], math.inf, math.inf),
                              ([-math.inf, -math.inf], -math.inf, -math.inf), ([math.inf, -math.inf], math.nan, math.inf)]:
        t.equal(reduces(t, [2], 0, x)[:1], [total], f"sum of {x}")
        t.equal(reduces(t, [2], 0, x, op=MAXIMUM, start=-math.inf)[:1], [maximum], f"maximum of {x}")
    t.equal(reduces(t, [2], 0, [math.inf, math.nan], op=MAXIMUM, start=-math.inf)[:1], [math.nan], "maximum of infinity and NaN")
    for x in ([0.0, math.inf], [0.0, math.nan], [math.inf, 0.0]):
        t.equal(reduces(t, [2], 0, x, op=MUL, start=1.0)[:1], [math.nan], f"product of {x}")


@T.test(2, "stale out", "out held other numbers before", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in [1000.0, math.nan]:
        sums(t, [2, 3], 1, [3, 12], before=before)
        sums(t, [3], 0, [3], before=before)


@T.test(2, "order", "start comes first, then the elements in order",
        hint="apply(op, so far, next): the second operand is the new one.")
def _(t):
    t.equal(reduces(t, [3], 0, [1.0, 2.0, 4.0], op=SUB, start=100.0)[:1], [93.0], "100 - 1 - 2 - 4")
    t.equal(reduces(t, [1], 0, [3.0], op=SUB, start=100.0)[:1], [97.0], "100 - 3")
    t.equal(reduces(t, [2], 0, [2.0, 8.0], op=DIV, start=64.0)[:1], [4.0], "64 / 2 / 8")
    # 2^24 + 1 + 1 in float32 is 2^24: each 1 alone is lost.
    t.equal(reduces(t, [3], 0, [16777216.0, 1.0, 1.0])[:1], [16777216.0], "2^24 + 1 + 1, added from the first to the last")
    t.equal(reduces(t, [2], 0, [1.0, 1.0], start=16777216.0)[:1], [16777216.0], "2^24 + 1 + 1, where 2^24 is start")
    t.equal(reduces(t, [40], 0, [1.0] * 40, start=16777216.0)[:1], [16777216.0], "2^24 + 1 + ... + 1, with 40 ones")
    t.equal(reduces(t, [2], 0, [1.0, 1.0], op=SUB, start=16777218.0)[:1], [16777215.0], "2^24 + 2 - 1 - 1, whose first step is rounded to 2^24")
    # 10^40 is infinite in float32.
    t.close(reduces(t, [2], 0, [1e20, 1e20], op=DIV, start=1e30)[:1], [1e-10], "10^30 / 10^20 / 10^20", least=0)
    t.close(reduces(t, [2], 0, [1e20, 1e20], op=MUL, start=1e-30)[:1], [1e10], "10^-30 * 10^20 * 10^20", least=0)


@T.test(2, "strides", "x and out are not contiguous; rows may lie 2^32 elements apart", hint="Both tensors have strides of their own, in every dimension. Places are long.")
def _(t):
    for sizes, strides, out_strides, dim in [([2, 3], [1, 2], [1, 1], 1), ([2, 3], [1, 2], [1, 1], 0), ([3], [4], [1], 0),
                                             ([2, 3, 2], [1, 5, 2], [3, 1, 7], 1), ([2, 2], [0, 1], [9, 2], 0)]:
        x = t.quarters(1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)))
        found = reduces(t, sizes, dim, x, strides=strides, out_strides=out_strides)
        expected = {}
        for p in positions(sizes):
            at = place([0 if d == dim else i for d, i in enumerate(p)], out_strides)
            expected[at] = expected.get(at, 0.0) + x[place(p, strides)]
        for at, value in expected.items():
            t.equal(found[at], value, f"element {at} of out's memory")
    found = t.run(op=ADD, start=0.0, dim=1, x=[1.0, 2.0, 3.0, 4.0], x_sizes=[2, 2], x_strides=[FAR, 1], out_sizes=[2, 1], out_strides=[FAR, 1],
                  memory=[0.0] * 2, apart=FAR)
    t.equal(found["memory"], [3.0, 7.0], "out")


@T.test(1, "gaps", "nothing else is written", hint="Out has one element for each row of x along dim, and no more.")
def _(t):
    t.equal(reduces(t, [2, 3], 1, [1.0] * 6, before=POISON)[2:], [POISON] * 16, "memory behind out")
    t.equal(reduces(t, [2, 3], 0, [1.0] * 6, out_strides=[1, 2], before=POISON)[1:4:2], [POISON] * 2, "memory between the elements of out")


@T.test(1, "no elements", "a dimension of size 0", hint="The sum of no elements is what the result begins with.")
def _(t):
    t.equal(reduces(t, [2, 0], 1, [], start=7.0)[:2], [7.0, 7.0], "out")
    t.equal(reduces(t, [0], 0, [], start=-math.inf, op=MAXIMUM)[:1], [-math.inf], "out")
    t.equal(reduces(t, [0, 3], 1, [], before=POISON), [POISON] * 17, "memory of an out without elements")
