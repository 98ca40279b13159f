"""Tests of task 2.1: slopes are compared with differences, in float64, of the functions themselves."""
import math

from judge.testing import Op1, Op2, task

T = task("2.1", "Local derivatives", 15, "2_autodiff/2.1_slopes.cpp", exports=["course::slope", "course::slopes"])

VALUES = {"neg": lambda x: -x, "exp": math.exp, "log": math.log, "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
          "tanh": math.tanh, "identity": lambda x: x, "square": lambda x: x * x, "add": lambda x, y: x + y, "sub": lambda x, y: x - y,
          "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "maximum": max}


def difference(f, at, i, h=1e-5):
    """The slope of f by its argument number i."""
    def moved(by):
        return f(*(each + by if j == i else each for j, each in enumerate(at)))
    return (moved(h) - moved(-h)) / (2 * h)


def one(t, op, x):
    return t.run(operands=1, op=Op1[op], x=x, y=[])["by x"]


def two(t, op, x, y):
    reply = t.run(operands=2, op=Op2[op], x=x, y=y)
    return reply["by x"], reply["by y"]


def relative(t, found, expected, what, tolerance=1e-4):
    """Each number within tolerance * |expected|, which is not 0: a slope of 1e-9 counts as much as one of 1."""
    t.close([a / b for a, b in zip(found, expected)], [1.0] * len(expected), f"{what}, each divided by the right one,", tolerance)


def compare_one(t, op, x):
    t.close(one(t, op, x), [difference(VALUES[op], (each,), 0) for each in x], f"slopes of {op}", 1e-4)


def compare_two(t, op, x, y):
    for found, i in zip(two(t, op, x, y), (0, 1)):
        t.close(found, [difference(VALUES[op], each, i) for each in zip(x, y)],
                f"slopes of {op} by {'xy'[i]}", 1e-4)


@T.test(3, "elementary", "neg, identity, square, exp and log",
        hint="y is the result already: for one of these operations it is the slope too.")
def _(t):
    for op in ("neg", "identity", "square", "exp", "log"):
        for x in ([1.0], [0.5, 2.0, 3.0], t.floats(8, 0.2, 3.0)):
            compare_one(t, op, x)
    for op in ("neg", "identity", "square", "exp"):
        compare_one(t, op, [-1.5, -0.5, 0.0])
    relative(t, one(t, "log", [1e-4, 1e-10, 1e9]), [1e4, 1e10, 1e-9], "slopes of log close to 0 and far from it")
    relative(t, one(t, "exp", [30.0, -30.0, 80.0, 88.0]), [math.exp(each) for each in (30, -30, 80, 88)], "slopes of exp")


@T.test(2, "curves", "sigmoid and tanh", hint="The slope of both can be written with y alone.")
def _(t):
    for op in ("sigmoid", "tanh"):
        for x in ([0.0], [-1.0, 0.5, 2.0], t.floats(8, -3.0, 3.0)):
            compare_one(t, op, x)
    relative(t, one(t, "sigmoid", [-12.0, -20.0]), [math.exp(-12) / (1 + math.exp(-12)) ** 2, math.exp(-20)], "slopes of sigmoid far to the left")


@T.test(2, "saturated", "sigmoid and tanh far from 0",
        hint="exp(100) is too large for a float: use y, which is well-behaved, in place of x.")
def _(t):
    for op in ("sigmoid", "tanh"):
        t.close(one(t, op, [-100.0, -50.0, 50.0, 100.0]), [0.0, 0.0, 0.0, 0.0], f"slopes of {op}", 1e-12)


@T.test(2, "relu", "relu, with its kink", hint="The slope is 1 where x is above 0, and 0 at 0 itself.")
def _(t):
    t.equal(one(t, "relu", [2.0, 0.25, -0.25, -2.0]), [1.0, 1.0, 0.0, 0.0], "slopes of relu")
    t.equal(one(t, "relu", [0.0, -0.0]), [0.0, 0.0], "slopes of relu at 0")


@T.test(2, "sums and products", "add, sub and mul, by x and by y",
        hint="Keep the other operand fixed, and ask how the result moves.")
def _(t):
    for op in ("add", "sub", "mul"):
        compare_two(t, op, [3.0], [2.0])
        compare_two(t, op, t.floats(8, -2.0, 2.0), t.floats(8, -2.0, 2.0))


@T.test(2, "quotient", "div, by x and by y", hint="x / y falls where y grows, if both are above 0.")
def _(t):
    compare_two(t, "div", [3.0], [2.0])
    compare_two(t, "div", [-3.0, 1.0, 0.0], [2.0, -4.0, 0.5])
    compare_two(t, "div", t.floats(8, -2.0, 2.0), t.floats(8, 0.5, 3.0))
    by_x, by_y = two(t, "div", [1.0, 2.0, 3.0], [0.001, -0.01, 1e8])
    relative(t, by_x, [1000.0, -100.0, 1e-8], "slopes of div by x, of small and large y")
    relative(t, by_y, [-1e6, -2e4, -3e-16], "slopes of div by y, of small and large y")


@T.test(2, "maximum", "maximum, also of equal numbers",
        hint="The larger operand has slope 1; of two that are equal each has half.")
def _(t):
    t.equal(two(t, "maximum", [1.0, 5.0, -3.0], [2.0, 4.0, -4.0]), ([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]),
            "slopes of maximum by x and y")
    t.equal(two(t, "maximum", [2.0, 0.0], [2.0, 0.0]), ([0.5, 0.5], [0.5, 0.5]), "slopes of equal numbers")
    t.equal(two(t, "maximum", [1.0, 1e-9], [1.000001, 0.0]), ([0.0, 1.0], [1.0, 0.0]), "slopes of numbers that are nearly equal")
