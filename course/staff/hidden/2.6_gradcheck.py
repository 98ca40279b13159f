"""Hidden tests of task 2.6."""
from judge.testing import hidden, public


@hidden("2.6", of="every element", test="one of many", title="one wrong element among 12, at other places, and of 1,030 the last",
        hint="Compare all elements.")
def _(t):
    for _ in range(4):
        x = [each if abs(each) > 0.1 else 0.2 for each in t.floats(12, -0.3, 0.3)]
        for name, expected in [("right: cubes", 1), ("wrong: the first element", 0), ("wrong: the second element", 0),
                               ("wrong: the last element", 0)]:
            t.equal(t.run(function=name, x=x)["right"], [expected], f"gradcheck of '{name}'")
    x = [0.2] * 1030  # nothing limits the number of elements
    public("2.6").accepts(t, "cubes", x)
    public("2.6").refuses(t, "the last element", x)


def numbers(t, count):
    """Numbers that are not close to 0, nor to one another."""
    out = [(0.1 + 0.05 * i) * t.random.choice([-1, 1]) for i in range(count)]
    t.random.shuffle(out)
    return out


@hidden("2.6", of="right", test="right at other numbers", title="right gradients at random numbers", hint="Compare each difference with that element of the gradient.")
def _(t):
    for name in ("cubes", "sines", "product", "constant"):
        for count in (1, 4, 9):
            public("2.6").accepts(t, name, numbers(t, count))


@hidden("2.6", of="wrong", test="wrong at other numbers", title="wrong gradients at random numbers", hint="A missing factor or a sign makes the difference differ from the gradient.")
def _(t):
    for name in ("a factor", "a sign", "a constant", "too large", "too small"):
        for count in (2, 7):
            public("2.6").refuses(t, name, numbers(t, count))


@hidden("2.6", of="curved", test="curved at other numbers", title="a function that curves, at random numbers", hint="Look at both sides of x.")
def _(t):
    for count in (1, 3, 8):
        public("2.6").accepts(t, "curved", [each / 2 for each in numbers(t, count)])


@hidden("2.6", of="large", test="other large numbers", title="steep functions and other large numbers", hint="Scale h with |x|, and the tolerance with the difference.")
def _(t):
    for size in (1e7, -1e8, 3e9):
        public("2.6").accepts(t, "product", [1.5, size, 2.0])
    public("2.6").accepts(t, "steep", numbers(t, 3))
    public("2.6").refuses(t, "steep", numbers(t, 3))


@hidden("2.6", of="no number", test="no number among many", title="NaN, infinity and other lengths, at random numbers", hint="Every comparison with NaN is false.")
def _(t):
    for name in ("not a number", "the last no number", "infinite", "too few", "too many"):
        public("2.6").refuses(t, name, numbers(t, 5))
    for at in range(4):
        public("2.6").refuses(t, "roots", [-0.5 if i == at else 0.25 for i in range(4)])
    public("2.6").refuses(t, "too many", [])


@hidden("2.6", of="options", test="other options", title="other steps and tolerances", hint="Step and tolerance are those of the caller.")
def _(t):
    for step in (0.5, 0.125):
        reply = public("2.6").check(t, "wrong: constant", [0.5], step=step, tolerance=0.1875)
        t.check(reply["right"] == [1], "it refuses a gradient that is within the tolerance")
        t.equal(reply["distances"], [step], "how far from x it looks")
        public("2.6").refuses(t, "constant", [0.5], step=step, tolerance=0.15625)
        for name, refused, accepted in (("sum", 0.234375, 0.265625), ("falling", 0.9375, 1.0625)):
            public("2.6").refuses(t, name, [0.5, -0.25], step=step, tolerance=refused)
            reply = public("2.6").check(t, "wrong: " + name, [0.5, -0.25], step=step, tolerance=accepted)
            t.check(reply["right"] == [1], "it refuses a gradient that is within the tolerance")


@hidden("2.6", of="calls", test="calls of others", title="what it asks for, of none, 1, 2 and 12 elements", hint="Change one element at a time.")
def _(t):
    for count in (0, 1, 2, 12):
        reply = public("2.6").check(t, "right: cubes", numbers(t, count))
        t.equal(reply["gradient calls"], [1], "calls of gradient")
        t.at_most(reply["calls"][0], 2 * count, "calls of value")
        t.at_most(reply["most changed"][0], 1, "the most elements that differ from x in a call of value")
