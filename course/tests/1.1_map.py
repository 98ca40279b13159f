"""Tests of task 1.1."""
import math

from judge.testing import EXTREMES1, FAR, OF_EXTREMES1, Op1, place, positions, task

T = task("1.1", "Map", 15, "1_cpu/1.1_map.cpp", exports=["course::cpu::map"])

NEG, EXP, LOG, RELU, SIGMOID, TANH, SQUARE, IDENTITY = Op1
POISON = -555.5  # around the elements of x, and in out before the call
FUNCTIONS = {NEG: lambda v: -v, EXP: math.exp, LOG: math.log, RELU: lambda v: max(v, 0.0), SIGMOID: lambda v: 1 / (1 + math.exp(-v)),
             TANH: math.tanh, SQUARE: lambda v: v * v, IDENTITY: lambda v: v}


def row_major(sizes):
    """Strides by known ends: those of [a, b, c] are [b * c, c, 1]."""
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


def maps(t, sizes, out_strides=None, x_sizes=None, x_strides=None, op=NEG):
    """Runs it on numbered elements. Returns the memory of out, and what each place of out's elements should hold."""
    x_sizes = x_sizes or sizes
    out_strides, x_strides = out_strides or row_major(sizes), x_strides or row_major(x_sizes)
    reach = lambda sizes_, strides_: 1 + sum((size - 1) * stride for size, stride in zip(sizes_, strides_))  # noqa: E731
    x = [float(i + 1) for i in range(max(1, reach(x_sizes, x_strides)))] + [POISON] * 64
    memory = [POISON] * (max(1, reach(sizes, out_strides)) + 64)
    found = t.run(op=op, out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, x=x,
                  memory=memory)["memory"]
    expected = {}
    for p in positions(sizes):
        value = x[place([min(i, size - 1) for i, size in zip(p, x_sizes)], x_strides)]
        expected[place(p, out_strides)] = FUNCTIONS[op](value)
    return found, expected


def right(t, *arguments, **more):
    found, expected = maps(t, *arguments, **more)
    for at, value in expected.items():
        t.close(found[at], value, f"element {at} of out's memory (x holds 1, 2, 3, ...)", least=0)


@T.test(2, "contiguous", "contiguous tensors", hint="For each position of out: find the element of x, and store op of it.")
def _(t):
    for sizes in [[1], [5], [2, 3], [2, 3, 4], [2, 1, 3, 2], [2, 1030], [1030, 2]]:
        right(t, sizes)
    right(t, [4], op=SQUARE)


@T.test(1, "operations", "each operation", hint="apply(op, x) in core/types.h knows all operations.")
def _(t):
    x = [0.25, 1.0, 2.0, 1e-6]
    for op, f in FUNCTIONS.items():
        found = t.run(op=op, out_sizes=[4], out_strides=[1], x_sizes=[4], x_strides=[1], x=x, memory=[POISON] * 4)["memory"]
        t.close(found, [f(v) for v in x], "out", least=0)
    found = t.run(op=RELU, out_sizes=[2], out_strides=[1], x_sizes=[2], x_strides=[1], x=[-1.0, 0.0], memory=[POISON] * 2)
    t.equal(found["memory"], [0.0, 0.0], "out")


@T.test(1, "not finite", "each operation on large numbers, infinity and NaN",
        hint="Let apply(op, x) compute each result: a formula of your own overflows, or treats NaN in another way.")
def _(t):
    for op, expected in OF_EXTREMES1.items():
        for value, result in zip(EXTREMES1, expected):
            found = t.run(op=op, out_sizes=[1], out_strides=[1], x_sizes=[1], x_strides=[1], x=[value], memory=[POISON])["memory"]
            t.close(found, [result], f"{op}({value:g})")


@T.test(1, "in place", "out is x, with the same layout", hint="Read an element, then write its result to the same place: nothing else may be read or written before.")
def _(t):
    for sizes, strides, x, expected in [([3], [1], [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]), ([2, 2], [1, 2], [1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, -3.0, -4.0]),
                                        ([2, 2], [3, 1], [1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, -2.0, 3.0, -4.0, -5.0])]:
        found = t.run(op=NEG, out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=strides, x=[], memory=x, in_place=1)["memory"]
        t.equal(found, expected, "memory of out, which is x")


@T.test(2, "strides of x", "x is a transposed matrix, or a part of a larger tensor, whose rows may lie 2^32 elements apart",
        hint="The same position lies at different places in out and in x: keep two sums, one with the strides of each. Places are long.")
def _(t):
    right(t, [2, 3], x_strides=[1, 2])
    right(t, [3], x_strides=[4])
    right(t, [2, 3, 2], x_strides=[1, 7, 3])
    right(t, [2, 3], x_strides=[0, 2])
    for op in Op1:
        right(t, [2, 3], x_strides=[1, 2], op=op)
    right(t, [2, 2, 2], x_strides=[4, 1, 2])
    right(t, [2, 2, 2, 2], x_strides=[1, 4, 2, 8])
    found = t.run(op=NEG, out_sizes=[2, 2], out_strides=[FAR, 1], x_sizes=[2, 2], x_strides=[FAR, 1], x=[1.0, 2.0, 3.0, 4.0],
                  memory=[POISON] * 4, apart=FAR)["memory"]
    t.equal(found, [-1.0, -2.0, -3.0, -4.0], "out")


@T.test(2, "strides of out", "out is a transposed matrix, or a part of a larger tensor",
        hint="The place of an element in out follows from the strides of out, not from its number.")
def _(t):
    right(t, [3], out_strides=[2])
    right(t, [2, 3], out_strides=[1, 2])
    right(t, [2, 2, 3], out_strides=[5, 30, 1], x_strides=[1, 2, 4])
    right(t, [2, 2, 2], out_strides=[4, 1, 2])
    for op in Op1:
        right(t, [2, 3], out_strides=[1, 2], op=op)


@T.test(2, "gaps", "nothing is written between the elements of out, nor behind them",
        hint="Walk over positions, not over memory: what lies between out's elements belongs to another tensor.")
def _(t):
    for sizes, strides in [([3], [1]), ([3], [2]), ([2, 2], [4, 1]), ([2, 2, 2], [20, 6, 2])]:
        found, expected = maps(t, sizes, strides)
        for at, value in enumerate(found):
            if at not in expected:
                t.equal(value, POISON, f"element {at} of out's memory, which is none of out's elements")


@T.test(2, "size one", "x has size 1 where out is longer",
        hint="Where x has size 1 every index leads to its one element: its stride there must not count.")
def _(t):
    right(t, [3], x_sizes=[1], x_strides=[1])
    right(t, [2, 3], x_sizes=[2, 1], x_strides=[1, 1])
    right(t, [2, 3], x_sizes=[1, 3], x_strides=[3, 1])
    right(t, [2, 3, 2], x_sizes=[2, 1, 2], x_strides=[2, 2, 1])
    right(t, [2, 3, 2], x_sizes=[1, 3, 1], x_strides=[3, 1, 1])
    right(t, [2, 3], x_sizes=[1, 1], x_strides=[1, 1])
    for op in Op1:
        right(t, [2, 3], x_sizes=[2, 1], x_strides=[1, 77], op=op)


@T.test(2, "one and none", "a tensor without dimensions has one element; one with a size 0 has none",
        hint="The number of elements is the product of the sizes, and an empty product is 1.")
def _(t):
    right(t, [])
    for sizes in [[0], [2, 0], [0, 3]]:
        found, _ = maps(t, sizes)
        t.equal(found, [POISON] * len(found), "memory of an out without elements")
