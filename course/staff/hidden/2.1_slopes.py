"""Hidden tests of task 2.1."""
import math

from judge.testing import hidden, public

FORMULAS = {1: math.exp, 2: lambda x: 1 / x, 4: lambda x: math.exp(-x) / (1 + math.exp(-x)) ** 2,
            5: lambda x: 1 / math.cosh(x) ** 2, 6: lambda x: 2 * x}


@hidden("2.1", of="elementary", test="formulas", title="slopes against their formulas, at other numbers",
        hint="A slope depends on x, and on nothing else.")
def _(t):
    for op, formula in FORMULAS.items():
        x = t.floats(200, 0.01, 9.0)
        t.close(t.run(operands=1, op=op, x=x, y=[])["by x"], [formula(each) for each in x], "slopes", 1e-4)


@hidden("2.1", of="quotient", test="quotients", title="div at other numbers, of both signs",
        hint="By y the slope is -x / y^2.")
def _(t):
    x, y = t.floats(200, -9.0, 9.0), [each + math.copysign(0.25, each) for each in t.floats(200, -4.0, 4.0)]
    reply = t.run(operands=2, op=3, x=x, y=y)
    t.close(reply["by x"], [1 / b for b in y], "slopes by x", 1e-3)
    t.close(reply["by y"], [-a / b ** 2 for a, b in zip(x, y)], "slopes by y", 1e-3)


@hidden("2.1", of="curves", test="curves at other numbers", title="sigmoid and tanh at random numbers", hint="The slope of both can be written with y alone.")
def _(t):
    for op in ("sigmoid", "tanh"):
        public("2.1").compare_one(t, op, t.floats(60, -6, 6))


@hidden("2.1", of="saturated", test="farther from 0", title="sigmoid and tanh at random numbers far from 0", hint="Use y, which is well-behaved, in place of x.")
def _(t):
    for op in ("sigmoid", "tanh"):
        x = t.floats(20, 40, 3000)
        t.close(public("2.1").one(t, op, x + [-each for each in x]), [0.0] * 40, f"slopes of {op}", 1e-6)


@hidden("2.1", of="relu", test="relu at other numbers", title="relu at random numbers, small ones too", hint="The slope is 1 where x is above 0.")
def _(t):
    x = [scale * each for each in t.floats(30) for scale in (1.0, 1e-6, 1e6)]
    t.equal(public("2.1").one(t, "relu", x), [float(each > 0) for each in x], "slopes of relu")


@hidden("2.1", of="sums and products", test="sums and products of others", title="add, sub and mul at random numbers", hint="Keep the other operand fixed.")
def _(t):
    for op in ("add", "sub", "mul"):
        public("2.1").compare_two(t, op, t.floats(50, -9, 9), t.floats(50, -9, 9))


@hidden("2.1", of="maximum", test="maximum of others", title="maximum at random numbers, some of them equal", hint="Of two that are equal each has half.")
def _(t):
    x, y = ([float(t.random.randint(-3, 3)) for _ in range(60)] for _ in range(2))
    slopes = [0.5 if a == b else float(a > b) for a, b in zip(x, y)]
    t.equal(public("2.1").two(t, "maximum", x, y), (slopes, [1 - each for each in slopes]), "slopes of maximum by x and y")
