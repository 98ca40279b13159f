"""Tests of task 1.2."""
import array
import math

from judge.testing import EXTREMES2, FAR, OF_EXTREMES2, Op2, place, positions, task

T = task("1.2", "Zip", 15, "1_cpu/1.2_zip.cpp", exports=["course::cpu::zip"])

ADD, SUB, MUL, DIV, MAXIMUM = Op2
POISON = -555.5  # around the elements of x and y, and in out before the call


def row_major(sizes):
    """Strides by known ends: those of [a, b, c] are [b * c, c, 1]."""
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


def reach(sizes, strides):
    return max(1, 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)))


def rounded(value):
    """The float32 number next to it."""
    return array.array("f", [value])[0]


FUNCTIONS = {ADD: float.__add__, SUB: float.__sub__, MUL: float.__mul__, DIV: lambda a, b: rounded(a / b), MAXIMUM: max}


def zips(t, sizes, x=None, y=None, out_strides=None, op=ADD, step=1000):
    """Combines numbered elements: x holds 1, 2, ..., y holds 1000, 2000, ..., so a sum says which elements met. x and y:
    sizes, or sizes and strides. Returns the memory of out, and what each place of out's elements should hold."""
    layouts = []
    for each in (x or sizes, y or sizes):
        layouts.append(each if isinstance(each, tuple) else (each, row_major(each)))
    (x_sizes, x_strides), (y_sizes, y_strides) = layouts
    out_strides = out_strides or row_major(sizes)
    found = t.run(op=op, out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides,
                  y_sizes=y_sizes, y_strides=y_strides, x=numbered(1, x_sizes, x_strides),
                  y=numbered(step, y_sizes, y_strides), memory=[POISON] * (reach(sizes, out_strides) + 64))["memory"]
    expected = {}
    for p in positions(sizes):
        ends = [place([min(i, size - 1) for i, size in zip(p, s)], strides) for s, strides in layouts]
        expected[place(p, out_strides)] = FUNCTIONS[op](float(ends[0] + 1), float(step * (ends[1] + 1)))
    return found, expected


def numbered(step, sizes, strides):
    return [float(step * (i + 1)) for i in range(reach(sizes, strides))] + [POISON] * 64


def right(t, *arguments, **more):
    found, expected = zips(t, *arguments, **more)
    for at, value in expected.items():
        step = more.get("step", 1000)
        t.close(found[at], value, f"element {at} of out's memory (x holds 1, 2, 3, ..., y holds {step}, {2 * step}, ...)", 1e-6, least=0)


def all_right(t, *arguments, **more):
    """The same for each operation. A maximum of these shows y; with y below 0 it shows x."""
    for op in Op2:
        right(t, *arguments, op=op, **more)
    right(t, *arguments, op=MAXIMUM, step=-1000, **more)


@T.test(3, "same sizes", "contiguous tensors of the same sizes", hint="As map, with a second operand.")
def _(t):
    for sizes in [[1], [5], [2, 3], [2, 3, 4], [2, 1, 3, 2], [2, 1030], [1030, 2]]:
        right(t, sizes)


@T.test(1, "operations", "each operation, x before y", hint="x - y is not y - x.")
def _(t):
    x, y = [1.0, 8.0, -2.0], [2.0, 4.0, 0.5]
    for op, expected in [(ADD, [3.0, 12.0, -1.5]), (SUB, [-1.0, 4.0, -2.5]), (MUL, [2.0, 32.0, -1.0]),
                         (DIV, [0.5, 2.0, -4.0]), (MAXIMUM, [2.0, 8.0, 0.5])]:
        one = dict(out_sizes=[3], out_strides=[1], x_sizes=[3], x_strides=[1], y_sizes=[3], y_strides=[1])
        t.equal(t.run(op=op, **one, x=x, y=y, memory=[POISON] * 3)["memory"], expected, "out")
    x, y = [5.0, 7.0, 9.0], [3.0, 3.0, 5.0]
    t.equal(t.run(op=DIV, **one, x=x, y=y, memory=[POISON] * 3)["memory"], [rounded(a / b) for a, b in zip(x, y)], "out, to the last bit")


@T.test(1, "not finite", "each operation on infinity, NaN, and 0 as a divisor", hint="Let apply(op, x, y) compute each result.")
def _(t):
    for op, expected in OF_EXTREMES2.items():
        for x, y, result in zip(*EXTREMES2, expected):
            one = dict(out_sizes=[1], out_strides=[1], x_sizes=[1], x_strides=[1], y_sizes=[1], y_strides=[1])
            t.equal(t.run(op=op, **one, x=[x], y=[y], memory=[POISON])["memory"], [result], f"{op} of {x:g} and {y:g}")


@T.test(1, "in place", "out is x, or y, with the same layout", hint="Read both elements before you write the result, and write to out nothing else.")
def _(t):
    one = dict(out_sizes=[2, 2], out_strides=[2, 1], x_sizes=[2, 2], x_strides=[2, 1], y_sizes=[2, 2], y_strides=[2, 1])
    x, y = [1.0, 2.0, 3.0, 4.0], [10.0, 30.0, 50.0, 70.0]
    for in_place, memory in [(1, x), (2, y)]:  # out is x; out is y
        found = t.run(op=SUB, **one, x=x, y=y, memory=memory, in_place=in_place)["memory"]
        t.equal(found, [-9.0, -28.0, -47.0, -66.0], f"out, which is {' xy'[in_place]}")


@T.test(3, "broadcast", "one operand has size 1 where out is longer, or is expanded already",
        hint="Where an operand has size 1, its stride there must not count. A stride of 0 needs no case of its own.")
def _(t):
    right(t, [3], y=[1])
    right(t, [3], x=[1], op=SUB)
    right(t, [3], y=[1], op=SUB)
    right(t, [2, 3], y=[2, 1])
    right(t, [2, 3], x=[1, 3])
    right(t, [2, 3, 2], x=([1, 3, 1], [99, 1, 77]))
    right(t, [2, 3, 2], y=[2, 1, 2])
    right(t, [2, 3], y=([2, 3], [0, 1]))
    right(t, [2, 3], x=([2, 3], [1, 0]), y=([2, 3], [0, 0]))
    right(t, [2, 3, 2], x=([2, 3, 2], [6, 0, 1]))
    right(t, [2, 2, 2, 2], x=([1, 2, 2, 2], [99, 4, 2, 1]))
    right(t, [2, 2, 2, 2], y=([1, 2, 2, 2], [99, 4, 2, 1]))
    all_right(t, [2, 3], x=([1, 3], [99, 1]))
    all_right(t, [2, 3], y=([2, 1], [1, 99]))


@T.test(2, "both repeat", "a column and a row make a matrix", hint="The elements of out are more than those of x, and of y.")
def _(t):
    right(t, [2, 3], x=[2, 1], y=[1, 3])
    right(t, [2, 3, 4], x=[1, 3, 1], y=[2, 1, 4])
    right(t, [2, 2], x=[1, 1], y=[1, 1])
    all_right(t, [2, 3], x=([2, 1], [1, 99]), y=([1, 3], [99, 1]))


@T.test(2, "strides", "three different layouts, whose rows may lie 2^32 elements apart",
        hint="A position lies at three places, one in each tensor: three sums, each with its own strides. Places are long.")
def _(t):
    right(t, [2, 3], x=([2, 3], [1, 2]))
    right(t, [2, 3], y=([2, 3], [1, 2]), out_strides=[4, 1])
    right(t, [2, 3, 2], x=([2, 3, 2], [1, 4, 2]), y=([2, 3, 2], [10, 3, 1]), out_strides=[1, 2, 6])
    right(t, [2, 2, 2], x=([2, 2, 2], [4, 1, 2]))
    right(t, [2, 2, 2], y=([2, 2, 2], [4, 1, 2]))
    all_right(t, [2, 3], x=([2, 3], [1, 2]))
    all_right(t, [2, 3], y=([2, 3], [1, 2]))
    far = {f"{name}_{what}": value for name in ("out", "x", "y") for what, value in (("sizes", [2, 2]), ("strides", [FAR, 1]))}
    found = t.run(op=ADD, x=[1.0, 2.0, 3.0, 4.0], y=[10.0, 20.0, 30.0, 40.0], memory=[POISON] * 4, apart=FAR, **far)["memory"]
    t.equal(found, [11.0, 22.0, 33.0, 44.0], "out")


@T.test(1, "gaps", "nothing is written between the elements of out, nor behind them",
        hint="Only the elements of out are yours; what lies between them belongs to another tensor.")
def _(t):
    for sizes, strides in [([3], [1]), ([3], [2]), ([2, 2], [4, 1])]:
        found, expected = zips(t, sizes, out_strides=strides)
        for at, value in enumerate(found):
            if at not in expected:
                t.equal(value, POISON, f"element {at} of out's memory, which is none of out's elements")


@T.test(1, "one and none", "tensors without dimensions have one element; those with a size 0 have none",
        hint="An empty product of sizes is 1; a size 0 makes it 0.")
def _(t):
    right(t, [])
    for sizes in [[0], [2, 0]]:
        found, _ = zips(t, sizes)
        t.equal(found, [POISON] * len(found), "memory of an out without elements")
