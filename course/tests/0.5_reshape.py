"""Tests of task 0.5. Each element of the memory holds its own number, so what a view shows says where it looks."""
from judge.testing import place, positions, task

T = task("0.5", "Reshape", 20, "0_tensors/0.5_reshape.cpp", exports=["course::reshape"])

MEMORY = 256


def reshapes(t, sizes, strides, to, expected=None, offset=0):
    """The result is a view that shows the elements of x in their order. expected: the sizes, where a size of `to` is -1."""
    found = t.run(memory=MEMORY, sizes=sizes, strides=strides, offset=offset, to=to)
    t.check(found["is_view"] == [1], "found no view, though there is one")
    expected = expected or to
    t.equal(found["sizes"], expected, "sizes")
    t.check(len(found["strides"]) == len(expected), f"found {len(found['strides'])} strides, expected {len(expected)}")
    t.check(found["same_memory"] == [1], "the result lies in other memory than x: it is a copy, not a view")
    t.check(found["same_data"] == [1], "the result's data is another pointer than x's: leave it, and give the result x's offset")
    t.equal(found["offset"][0], offset, "offset")
    for p, q in zip(positions(expected), positions(sizes)):
        at = place(p, found["strides"], found["offset"][0])
        t.check(0 <= at < len(found["memory"]), f"position {p} is element {at} of the memory, outside of x")
        t.equal(found["memory"][at], float(place(q, strides, offset)), f"element at position {p}")


def needs_copy(t, sizes, strides, to):
    found = t.run(memory=MEMORY, sizes=sizes, strides=strides, offset=0, to=to)
    t.check(found["is_view"] == [0], f"found a view with strides {found.get('strides')}; no strides show x in its order")


@T.test(3, "contiguous", "a contiguous tensor has all shapes as views",
        hint="Work from the last dimension to the first: the last has stride 1, as in task 0.1.")
def _(t):
    for sizes, strides, to in [([6], [1], [2, 3]), ([2, 3], [3, 1], [6]), ([2, 3], [3, 1], [3, 2]),
                               ([4, 6], [6, 1], [2, 2, 3, 2]), ([2, 3, 4], [12, 4, 1], [4, 6]), ([2, 3, 4], [12, 4, 1], [3, 8])]:
        reshapes(t, sizes, strides, to)
    reshapes(t, [2, 3], [3, 1], [3, 2], offset=10)


@T.test(2, "minus one", "one size is found from the others", hint="The size is the number of elements divided by the other sizes.")
def _(t):
    reshapes(t, [2, 3], [3, 1], [-1], [6])
    reshapes(t, [2, 6], [6, 1], [3, -1], [3, 4])
    reshapes(t, [2, 6], [6, 1], [-1, 2, 2], [3, 2, 2])
    reshapes(t, [2, 3], [3, 1], [6, -1], [6, 1])


@T.test(2, "size one", "dimensions of size 1 come and go",
        hint="Strides of size 1 say nothing about x. A 1 in the result takes nothing from a run, and x may have no dimensions.")
def _(t):
    for sizes, strides, to in [([1], [1], []), ([], [], [1, 1]), ([2, 3], [3, 1], [2, 1, 3, 1]), ([2, 1, 3], [3, 77, 1], [6]),
                               ([2, 1, 1, 3], [3, 77, 5, 1], [6]), ([1, 2, 3, 1, 1], [0, 3, 1, 8, 4], [6]),
                               ([1, 4], [99, 2], [2, 2]), ([3, 1], [2, 55], [3]), ([3, 2], [1, 3], [3, 1, 2, 1])]:
        reshapes(t, sizes, strides, to)


@T.test(4, "strided", "views with gaps or another order that are views again",
        hint="Neighbouring dimensions are one run where the outer stride is the inner stride times the inner size.")
def _(t):
    for sizes, strides, to in [([6], [2], [2, 3]), ([2, 4], [10, 1], [2, 2, 2]), ([3, 2], [4, 2], [6]), ([4, 3], [1, 4], [2, 2, 3]),
                               ([3, 4], [1, 3], [3, 2, 2]), ([2, 3, 4], [4, 8, 1], [2, 3, 2, 2]), ([2, 3, 4], [40, 4, 1], [2, 12]),
                               ([4, 2, 3], [3, 50, 1], [2, 2, 2, 3])]:
        reshapes(t, sizes, strides, to)
    reshapes(t, [4, 3], [1, 4], [2, 2, 3], offset=20)


@T.test(4, "copy needed", "empty where no strides show x in its order",
        hint="A dimension of the result has one stride. It cannot take elements from two runs of x.")
def _(t):
    for sizes, strides, to in [([2, 3], [1, 2], [6]), ([2, 4], [10, 1], [8]), ([2, 4], [10, 1], [4, 2]), ([3, 4], [1, 3], [6, 2]),
                               ([2, 3, 4], [4, 8, 1], [6, 4]), ([4, 6], [12, 1], [3, 8]), ([2, 6], [20, 1], [4, 3]),
                               ([2, 6], [20, 1], [3, 4]), ([2, 3, 2], [1, 2, 6], [3, 2, 2])]:
        needs_copy(t, sizes, strides, to)


@T.test(2, "expanded", "dimensions with stride 0",
        hint="Stride 0 is a stride like any other: the same condition for runs decides.")
def _(t):
    reshapes(t, [4], [0], [2, 2])
    reshapes(t, [2, 3], [0, 0], [6])
    reshapes(t, [4, 3], [0, 1], [2, 2, 3])
    needs_copy(t, [2, 3], [0, 1], [6])
    needs_copy(t, [3, 2], [1, 0], [2, 3])


@T.test(1, "no elements", "a tensor without elements", hint="Without elements any strides are right, and -1 may stand for 0.")
def _(t):
    for sizes, to, expected in [([0], [0, 3], None), ([2, 0, 3], [0], None), ([0, 4], [2, -1], [2, 0]), ([3, 0], [7, 0, 0], None)]:
        reshapes(t, sizes, [5] * len(sizes), to, expected)


@T.test(2, "refused", "sizes that do not fit",
        hint="Compare the number of elements before all else; no size may be below -1; -1 needs exactly one answer. A product of sizes may "
             "be more than 32 bits hold, or 64.")
def _(t):
    for sizes, to in [([6], [5]), ([6], [2, 4]), ([6], []), ([6], [-1, 4]), ([6], [-1, -1]), ([6], [-2, -3]), ([6], [0, -1]),
                      ([0], [0, -1]), ([0], [2]), ([6], [0]), ([], [0]), ([6], [-1, 12]), ([6], [-6, -1]), ([4], [-2, -2]),
                      ([6], [2 ** 32 + 6]), ([0], [2 ** 32, 2 ** 32]), ([5], [3, (2 ** 64 + 5) // 3])]:
        t.throws(f"sizes {sizes} as {to}", "std::invalid_argument",
                 memory=MEMORY, sizes=sizes, strides=[1] * len(sizes), offset=0, to=to)
    t.throws("2^32 + 6 elements as (6)", "std::invalid_argument", memory=MEMORY, sizes=[2 ** 32 + 6], strides=[0], offset=0, to=[6])
    for to in ([3], [4, 3], [-1, 3]):
        t.throws(f"sizes [2, 4], strides [10, 1] as {to}", "std::invalid_argument", memory=MEMORY, sizes=[2, 4], strides=[10, 1], offset=0, to=to)
