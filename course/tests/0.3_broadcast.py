"""Tests of task 0.3."""
from judge.testing import task

T = task("0.3", "Broadcast shapes", 20, "0_tensors/0.3_broadcast.cpp", exports=["course::broadcast"])


def broadcasts(t, *cases):
    """Each case: a, b, expected. Both orders must give the same."""
    for a, b, expected in cases:
        t.equal(t.run(a=a, b=b)["sizes"], expected, "sizes")
        t.equal(t.run(a=b, b=a)["sizes"], expected, "sizes")


@T.test(2, "same sizes", "tensors of the same sizes", hint="Sizes that agree stay as they are.")
def _(t):
    broadcasts(t, ([3], [3], [3]), ([2, 3], [2, 3], [2, 3]), ([4, 1, 2], [4, 1, 2], [4, 1, 2]),
               ([1, 3], [1, 3], [1, 3]), ([1, 1], [1, 1], [1, 1]))


@T.test(3, "size one", "a dimension of size 1 becomes as long as the other's",
        hint="Where one size is 1 the result has the other one, whichever operand that is.")
def _(t):
    broadcasts(t, ([1], [5], [5]), ([2, 1], [2, 3], [2, 3]), ([1, 3], [2, 1], [2, 3]),
               ([4, 1, 1], [1, 5, 1], [4, 5, 1]))


@T.test(4, "ranks", "tensors of different rank",
        hint="Write the sizes one list below the other, the last ones aligned; missing sizes in front count as 1.")
def _(t):
    broadcasts(t, ([3], [2, 3], [2, 3]), ([3, 1], [5, 3, 4], [5, 3, 4]), ([2, 1, 2], [7, 1, 3, 1], [7, 2, 3, 2]),
               ([4, 3], [1, 2] * 4 + [1, 3], [1, 2] * 4 + [4, 3]))


@T.test(2, "no dimensions", "a single number", hint="A single number has no sizes and broadcasts to anything.")
def _(t):
    broadcasts(t, ([], [], []), ([], [2, 3], [2, 3]), ([], [1], [1]))


@T.test(3, "size zero", "tensors without elements",
        hint="Size 0 is a size like any other: with 0 it gives 0, and what does the rule say of 0 and 1?")
def _(t):
    broadcasts(t, ([0], [0], [0]), ([2, 0], [2, 0], [2, 0]), ([0], [1], [0]), ([2, 1], [1, 0], [2, 0]),
               ([], [0, 3], [0, 3]))


@T.test(4, "refused", "sizes that differ, and neither is 1",
        hint="Sizes that differ, neither of them 1, must throw; align the ends first.")
def _(t):
    for a, b in [([2], [3]), ([2, 3], [2, 4]), ([2, 3], [2]), ([2], [4]), ([0], [2]), ([5, 2, 3], [5, 4, 3]), ([2, 3, 4], [5, 3, 4]),
                 ([0, 2], [1, 3]), ([2 ** 32 + 2], [2])]:
        t.throws(f"sizes {a} and {b}", "std::invalid_argument", a=a, b=b)
        t.throws(f"sizes {b} and {a}", "std::invalid_argument", a=b, b=a)


@T.test(2, "random", "random operands that fit by construction",
        hint="Look at the smallest case that is shown, and write the two lists of sizes with their ends aligned.")
def _(t):
    for rank in [2, 3, 3, 4, 4, 5, 5]:
        expected = [t.random.randint(2, 9) for _ in range(rank)]
        a, b = list(expected), list(expected)
        i, j = t.random.sample(range(rank), 2)
        a[i] = b[j] = 1
        broadcasts(t, (a, b, expected), (a, [7, 1, *b], [7, 1, *expected]))
