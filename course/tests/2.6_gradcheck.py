"""Tests of task 2.6: functions with right and with wrong gradients (runner/2.6_functions.h)."""
from judge.testing import task

T = task("2.6", "Gradient checks", 15, "2_autodiff/2.6_gradcheck.cpp", exports=["course::gradcheck"])

X = [0.1, -0.2, 0.3]


def check(t, function, x=X, **options):
    return t.run(function=function, x=x, **options)


def accepts(t, name, x=X, **options):
    t.check(check(t, "right: " + name, x, **options)["right"] == [1], "it refuses a right gradient")


def refuses(t, name, x=X, **options):
    t.check(check(t, "wrong: " + name, x, **options)["right"] == [0], "it accepts a wrong gradient")


@T.test(3, "right", "right gradients are accepted",
        hint="Compute a difference for each element of x, and compare it with that element of the gradient.")
def _(t):
    accepts(t, "cubes", [0.2])
    for name in ("cubes", "sines", "product", "constant"):
        accepts(t, name)
    accepts(t, "sines", t.floats(6))
    accepts(t, "constant", [])
    refuses(t, "too large")


@T.test(3, "wrong", "wrong gradients are refused", hint="A missing factor or a sign makes the difference differ from the gradient.")
def _(t):
    refuses(t, "a factor", [0.2])
    for name in ("a factor", "a sign", "the elements exchanged", "a constant", "too large", "too small"):
        refuses(t, name)
    accepts(t, "cubes")


@T.test(2, "every element", "one wrong element of three", hint="Compare all elements, not only the first or their sum.")
def _(t):
    for which in ("first", "second", "last"):
        refuses(t, f"the {which} element")
        refuses(t, f"the {which} element", [0.3, 0.2, 0.1, 0.15])
    accepts(t, "cubes")


@T.test(2, "curved", "a function that curves: one-sided differences are too coarse",
        hint="(f(x + h) - f(x)) / h is off by about h times half the curvature; look at both sides of x.")
def _(t):
    accepts(t, "curved", [0.1])
    accepts(t, "curved")
    accepts(t, "curved", [0.0, 0.25])
    refuses(t, "too large")


@T.test(2, "large", "steep functions, and large x",
        hint="Scale: h with |x|, since 1e9 + 1e-5 loses most of its digits, and the tolerance with the difference.")
def _(t):
    accepts(t, "steep")
    accepts(t, "product", [1e9, 2.0, 3.0])
    accepts(t, "product", [2.0, -1e9, 3.0])
    refuses(t, "steep")


@T.test(1, "no number", "NaN, of the gradient or of the function, infinity, and a gradient of another length are refused",
        hint="Every comparison with NaN is false: ask whether it is near, not whether it is far.")
def _(t):
    for name in ("not a number", "infinite", "too few", "too many"):
        refuses(t, name)
        refuses(t, name, [0.2])
    refuses(t, "too many", [])
    refuses(t, "roots", [-1.0])
    refuses(t, "roots")
    accepts(t, "cubes", [0.2])


@T.test(1, "options", "step and tolerance are those of the caller",
        hint="A function computed in float32 needs a larger step, and a larger tolerance.")
def _(t):
    accepts(t, "float32", [1.0, 2.0], step=1e-2, tolerance=1e-2)
    # Steps and tolerances that floats hold exactly. This gradient is 3/16, and should be 0.
    reply = check(t, "wrong: constant", [0.25], step=0.25, tolerance=0.1875)
    t.check(reply["right"] == [1], "it refuses a gradient that is within the tolerance")
    t.equal(reply["distances"], [0.25], "how far from x it looks")
    for tolerance in (0.125, 0.17578125):
        refuses(t, "constant", [0.25], step=0.25, tolerance=tolerance)
    # The slopes 1 and -4 are said to be 1.25 and -8.
    for name, refused, accepted in (("sum", 0.1875, 0.3125), ("falling", 0.75, 1.25)):
        refuses(t, name, [0.25], step=0.25, tolerance=refused)
        t.check(check(t, "wrong: " + name, [0.25], step=0.25, tolerance=accepted)["right"] == [1], "it refuses a gradient that is within the tolerance")


@T.test(1, "calls", "what it asks for: one gradient at x, and two values for each element near x",
        hint="Change one element at a time, and put it back before the next.")
def _(t):
    for x in ([], [0.2], X, t.floats(5)):
        reply = check(t, "right: sines", x)
        t.equal(reply["gradient calls"], [1], "calls of gradient")
        t.equal(reply["gradients elsewhere"], [0], "calls of gradient elsewhere than at x")
        t.at_most(reply["calls"][0], 2 * len(x), "calls of value")
        t.at_most(reply["most changed"][0], 1, "the most elements that differ from x in a call of value")
