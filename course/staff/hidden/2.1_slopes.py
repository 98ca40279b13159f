"""Hidden tests of task 2.1."""
import math

from judge.testing import Op1, Op2, hidden, public

FORMULAS = {Op1.exp: math.exp, Op1.log: lambda x: 1 / x, Op1.sigmoid: lambda x: math.exp(-x) / (1 + math.exp(-x)) ** 2,
            Op1.tanh: lambda x: 1 / math.cosh(x) ** 2, Op1.square: lambda x: 2 * x}


@hidden("2.1", of="elementary", test="formulas", title="slopes against their formulas, at other numbers",
        hint="A slope depends on x, and on nothing else.")
def _(t):
    for op, formula in FORMULAS.items():
        x = t.floats(200, 0.01, 9.0)
        found, expected = t.run(operands=1, op=op, x=x, y=[])["by x"], [formula(each) for each in x]
        if op in (Op1.sigmoid, Op1.tanh):  # 1 - y has few digits where y is close to 1
            t.close(found, expected, "slopes", 1e-4)
        else:
            public("2.1").relative(t, found, expected, "slopes")


@hidden("2.1", of="quotient", test="quotients", title="div at other numbers, of both signs",
        hint="By y the slope is -x / y^2.")
def _(t):
    x, y = t.floats(200, -9.0, 9.0), [each + math.copysign(0.25, each) for each in t.floats(200, -4.0, 4.0)]
    reply = t.run(operands=2, op=Op2.div, x=x, y=y)
    t.close(reply["by x"], [1 / b for b in y], "slopes by x", 1e-3)
    t.close(reply["by y"], [-a / b ** 2 for a, b in zip(x, y)], "slopes by y", 1e-3)


@hidden("2.1", of="curves", test="curves at other numbers", title="sigmoid and tanh at random numbers", hint="The slope of both can be written with y alone.")
def _(t):
    for op in ("sigmoid", "tanh"):
        public("2.1").compare_one(t, op, t.floats(60, -6, 6))
    x = t.floats(20, -30, -9)
    public("2.1").relative(t, public("2.1").one(t, "sigmoid", x), [FORMULAS[Op1.sigmoid](each) for each in x], "slopes of sigmoid far to the left")


@hidden("2.1", of="saturated", test="farther from 0", title="sigmoid and tanh at random numbers far from 0", hint="Use y, which is well-behaved, in place of x.")
def _(t):
    for op in ("sigmoid", "tanh"):
        x = t.floats(20, 40, 3000)
        t.close(public("2.1").one(t, op, x + [-each for each in x]), [0.0] * 40, f"slopes of {op}", 1e-12)


@hidden("2.1", of="relu", test="relu at other numbers", title="relu at random numbers, small ones and 0 too", hint="The slope is 1 where x is above 0.")
def _(t):
    x = [scale * each for each in t.floats(30) for scale in (1.0, 1e-6, 1e6)] + [0.0, -0.0]
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


def of_all_sizes(t, least, most):
    """Numbers from 10^least to 10^most."""
    return [10.0 ** each for each in t.floats(40, least, most)]


@hidden("2.1", of="elementary", test="numbers of all sizes", title="log close to 0, exp of large numbers, square of both", hint="A slope is exact for every x: add nothing to x, and cut nothing off.")
def _(t):
    for op, x in (("log", of_all_sizes(t, -30, 9)), ("exp", [-80.0, 85.0, 88.0, *t.floats(40, -80, 88)]),
                  ("square", of_all_sizes(t, -9, 30))):
        public("2.1").relative(t, public("2.1").one(t, op, x), [FORMULAS[Op1[op]](each) for each in x], f"slopes of {op}")


@hidden("2.1", of="quotient", test="quotients of all sizes", title="div by small and large numbers", hint="By y the slope is -x / y^2, also where y is small.")
def _(t):
    x, y = t.floats(40, -9.0, 9.0), [t.random.choice([-1, 1]) * each for each in of_all_sizes(t, -12, 12)]
    by_x, by_y = public("2.1").two(t, "div", x, y)
    public("2.1").relative(t, by_x, [1 / b for b in y], "slopes by x")
    public("2.1").relative(t, by_y, [-a / b ** 2 for a, b in zip(x, y)], "slopes by y")


@hidden("2.1", of="maximum", test="nearly equal", title="numbers that differ in their last bit, and infinite ones", hint="Half is for equal numbers alone.")
def _(t):
    x = [float(2 ** t.random.randint(-20, 20)) for _ in range(30)]
    y = [each * (1 + t.random.choice([-1, 1]) * 2.0 ** -23) for each in x]
    larger = [float(a > b) for a, b in zip(x, y)]
    t.equal(public("2.1").two(t, "maximum", x, y), (larger, [1 - each for each in larger]), "slopes of maximum by x and y")
    t.equal(public("2.1").two(t, "maximum", [math.inf, math.inf, 1.0], [math.inf, 1.0, math.inf]), ([0.5, 1.0, 0.0], [0.5, 0.0, 1.0]), "slopes of maximum")
