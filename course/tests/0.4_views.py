"""Tests of task 0.4. Each element of the memory holds its own number, so what a view shows says where it looks."""
from judge.testing import place, positions, task

T = task("0.4", "Views", 30, "0_tensors/0.4_views.cpp",
         exports=["course::permute", "course::narrow", "course::expand"])

MEMORY = 128
MOST = 2 ** 63 - 1  # the largest long
# Views of rank 1 to 3: contiguous, then with gaps, a transposed order and an offset.
VIEWS = [dict(sizes=[4], strides=[1], offset=0), dict(sizes=[2, 3], strides=[3, 1], offset=0),
         dict(sizes=[2, 3, 4], strides=[12, 4, 1], offset=0), dict(sizes=[3, 2], strides=[1, 4], offset=5),
         dict(sizes=[3, 4, 2], strides=[2, 9, 40], offset=7)]


def view(t, function, x, **more):
    return t.run(function=function, memory=MEMORY, **x, **more)


def shows(t, found, sizes, source):
    """The view has these sizes, and at each position p the element number source(p). A copy that shows something else is
    named as a copy; one that shows the right elements fails in the test "no copy"."""
    t.equal(found["sizes"], sizes, "sizes")
    t.check(len(found["strides"]) == len(sizes), f"found {len(found['strides'])} strides, expected {len(sizes)}")
    for p in positions(sizes):
        at = place(p, found["strides"], found["offset"][0])
        inside = 0 <= at < len(found["memory"])
        if found["same_memory"] != [1] and not (inside and found["memory"][at] == float(source(p))):
            t.fail("the result lies in other memory than x: it is a copy, not a view")
        t.check(inside, f"position {p} is element {at} of the memory, outside of x")
        t.equal(found["memory"][at], float(source(p)), f"element at position {p}")


def at(x, position):
    return place(position, x["strides"], x["offset"])


@T.test(5, "permute", "dimensions in another order",
        hint="Dimension i of the result has the size and the stride of dimension order[i] of x.")
def _(t):
    for x, order in [(VIEWS[0], [0]), (VIEWS[1], [1, 0]), (VIEWS[2], [1, 2, 0]), (VIEWS[2], [2, 0, 1]), (VIEWS[3], [1, 0]),
                     (VIEWS[4], [2, 0, 1]), (dict(sizes=[], strides=[], offset=3), [])]:
        found = view(t, "permute", x, order=order)
        # order.index(d): where dimension d of x has gone
        shows(t, found, [x["sizes"][d] for d in order], lambda p: at(x, [p[order.index(d)] for d in range(len(p))]))


@T.test(4, "narrow", "a part of one dimension", hint="Only one size changes, and the place of the first element.")
def _(t):
    for x, dim, start, length in [(VIEWS[0], 0, 0, 2), (VIEWS[0], 0, 1, 3), (VIEWS[1], 0, 1, 1), (VIEWS[1], 1, 1, 2),
                                  (VIEWS[2], 1, 2, 1), (VIEWS[2], 2, 0, 4), (VIEWS[2], 1, 3, 0)]:
        found = view(t, "narrow", x, dim=dim, start=start, length=length)
        sizes = [length if d == dim else size for d, size in enumerate(x["sizes"])]
        shows(t, found, sizes, lambda p: at(x, [i + start * (d == dim) for d, i in enumerate(p)]))


@T.test(4, "of a view", "a part of what has an offset and other strides already",
        hint="The first element of the part lies start steps after the first element of x, and x may begin anywhere. Places are long.")
def _(t):
    for x, dim, start, length in [(VIEWS[3], 0, 1, 2), (VIEWS[3], 1, 1, 1), (VIEWS[4], 1, 1, 2), (VIEWS[4], 2, 1, 1)]:
        found = view(t, "narrow", x, dim=dim, start=start, length=length)
        sizes = [length if d == dim else size for d, size in enumerate(x["sizes"])]
        shows(t, found, sizes, lambda p: at(x, [i + start * (d == dim) for d, i in enumerate(p)]))
    # Only its numbers are looked at: no memory is so large.
    found = view(t, "narrow", dict(sizes=[4, 9], strides=[2 ** 31, 1], offset=5), dim=0, start=3, length=1)
    t.equal(found["offset"], [5 + 3 * 2 ** 31], "offset")


def expands(t, x, to):
    found = view(t, "expand", x, to=to)
    front = len(to) - len(x["sizes"])
    shows(t, found, to, lambda p: at(x, [i if size != 1 else 0 for i, size in zip(p[front:], x["sizes"])]))


@T.test(5, "expand", "dimensions of size 1 become longer",
        hint="All indices along a repeated dimension must lead to the same element.")
def _(t):
    for sizes, strides, to in [([1], [1], [3]), ([2, 1], [1, 1], [2, 4]), ([1, 3], [3, 1], [2, 3]), ([2, 3], [3, 1], [2, 3]),
                               ([3, 1, 2], [2, 2, 1], [3, 5, 2]), ([1, 2, 1], [7, 2, 9], [3, 2, 2]), ([2, 1], [1, 1], [2, 0])]:
        expands(t, dict(sizes=sizes, strides=strides, offset=0), to)
    expands(t, dict(sizes=[1, 4], strides=[40, 9], offset=7), [3, 4])


@T.test(4, "new dimensions", "the result has more dimensions than x",
        hint="New dimensions come first, and repeat all that comes after them.")
def _(t):
    for sizes, strides, to in [([3], [1], [2, 3]), ([], [], [2, 2]), ([2, 3], [3, 1], [4, 2, 3]), ([3, 1], [1, 1], [2, 3, 4]),
                               ([3], [1], [0, 3])]:
        expands(t, dict(sizes=sizes, strides=strides, offset=2), to)


@T.test(4, "refused", "arguments that make no sense",
        hint="The header says for each function when it throws. Think of numbers below 0, of one too many, and of some so large that a "
             "sum or 32 bits cannot hold them.")
def _(t):
    x = VIEWS[2]
    for order in [[0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 2], [2 ** 32, 1, 2]]:
        t.throws(f"permute with order {order}", "std::invalid_argument", function="permute", memory=MEMORY, **x, order=order)
    for dim, start, length in [(3, 0, 1), (-1, 0, 1), (1, 0, 4), (1, 2, 2), (1, -1, 2), (1, 1, -1), (1, 4, 0), (1, 4, -1),
                               (2 ** 32, 0, 1), (1, 1, MOST), (1, MOST, 1)]:
        t.throws(f"narrow with dim {dim}, start {start}, length {length}", "std::invalid_argument",
                 function="narrow", memory=MEMORY, **x, dim=dim,
                 start=start, length=length)
    for to in [[2, 3, 5], [2, 1, 4], [3, 4], [2, 3, 4, 1], [4, 3, 4], [2, 0, 4], [2, 2 ** 32 + 3, 4]]:
        t.throws(f"expand to {to}", "std::invalid_argument", function="expand", memory=MEMORY, **x, to=to)
    for to in [[3, 4], [1, 4], [5, 2, 4]]:
        t.throws(f"expand of sizes (0, 4) to {to}", "std::invalid_argument",
                 function="expand", memory=MEMORY, sizes=[0, 4], strides=[4, 1], offset=0, to=to)


def shares(t, function, x, **more):
    found = view(t, function, x, **more)
    t.check(found["same_memory"] == [1], f"{function}: the result lies in other memory than x")
    t.check(found["same_data"] == [1], f"{function}: the result's data is another pointer than x's: leave it, and change the offset")


@T.test(4, "no copy", "the results share the memory of x",
        hint="A view has the same data pointer; only offset, sizes and strides change.")
def _(t):
    for function, more in [("permute", dict(order=[1, 0])), ("narrow", dict(dim=0, start=1, length=1)),
                           ("expand", dict(to=[2, 2, 3]))]:
        shares(t, function, VIEWS[1], **more)
