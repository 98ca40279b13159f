"""Hidden tests of task 2.6."""
from judge.testing import hidden


@hidden("2.6", of="every element", test="one of many", title="one wrong element among 12, at other places",
        hint="Compare all elements.")
def _(t):
    for _ in range(4):
        x = [each if abs(each) > 0.1 else 0.2 for each in t.floats(12, -0.3, 0.3)]
        for name, expected in [("right: cubes", 1), ("wrong: the first element", 0), ("wrong: the second element", 0),
                               ("wrong: the last element", 0)]:
            t.equal(t.run(function=name, x=x)["right"], [expected], f"gradcheck of '{name}'")
