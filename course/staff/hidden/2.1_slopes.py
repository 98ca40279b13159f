"""Hidden tests of task 2.1."""
import math

from judge.testing import hidden

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
