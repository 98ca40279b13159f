"""Tests of task 0.1."""
from judge.testing import place, positions, task

T = task("0.1", "Strides", 15, "0_tensors/0.1_strides.cpp", exports=["course::strides_of"])

KNOWN = [([5], [1]), ([2, 3], [3, 1]), ([3, 2], [2, 1]), ([4, 1], [1, 1]), ([2, 3, 4], [12, 4, 1]), ([7, 1, 5, 2], [10, 10, 2, 1])]


def strides(t, sizes):
    return t.run(sizes=sizes)["strides"]


@T.test(3, "known", "strides of some sizes", hint="The last dimension has stride 1; go from the last to the first.")
def _(t):
    for sizes, expected in KNOWN:
        t.equal(strides(t, sizes), expected, "strides")


@T.test(2, "no dimensions", "a tensor without dimensions", hint="A single number has no sizes, so it has no strides.")
def _(t):
    t.equal(strides(t, []), [], "strides")


@T.test(2, "size one", "dimensions of size 1",
        hint="A dimension of size 1 gets the stride that it would have with any other size.")
def _(t):
    t.equal(strides(t, [1, 1, 3]), [3, 3, 1], "strides")
    t.equal(strides(t, [2, 1, 3]), [3, 3, 1], "strides")


@T.test(2, "size zero", "dimensions of size 0", hint="A dimension of size 0 counts as size 1.")
def _(t):
    t.equal(strides(t, [2, 0, 3]), [3, 3, 1], "strides")
    t.equal(strides(t, [3, 0, 0, 2]), [2, 2, 2, 1], "strides")


@T.test(3, "large", "more elements than an int can count, or a double exactly", hint="A size, and a product of sizes, may need all of 64 bits: use long for each.")
def _(t):
    t.equal(strides(t, [3, 70000, 70000]), [4900000000, 70000, 1], "strides")
    t.equal(strides(t, [2, 2 ** 32 + 1]), [2 ** 32 + 1, 1], "strides")
    t.equal(strides(t, [2, 94906267, 94906267]), [94906267 ** 2, 94906267, 1], "strides")
    t.equal(strides(t, [2 ** 40, 2 ** 30, 4]), [2 ** 32, 4, 1], "strides")  # no long holds the number of elements


@T.test(3, "in order", "row-major positions lie one after the other",
        hint="Walk through all positions in order: each must lie right after the one before it.")
def _(t):
    for rank in range(1, 5):
        sizes = [t.random.randint(2, 4) for _ in range(rank)]
        found = strides(t, sizes)
        t.equal([place(p, found) for p in positions(sizes)], list(range(len(list(positions(sizes))))),
                f"places of the elements with strides {found}")
