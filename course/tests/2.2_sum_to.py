"""Tests of task 2.2."""
import math

from judge.testing import positions, task

T = task("2.2", "Undo broadcasting", 15, "2_autodiff/2.2_sum_to.cpp", exports=["course::sum_to"])

GAP = 1000.0  # what lies in memory before and after x's elements


def sum_to(t, values, x_sizes, sizes, offset=0):
    x = [GAP] * offset + list(values) + [GAP] * 3
    reply = t.run(**{"x": x, "x sizes": x_sizes, "sizes": sizes, "offset": offset})
    t.equal(reply["sum sizes"], sizes, "sizes of the result")
    t.equal(reply["x"], x, "x after the call")
    t.check(reply["room"][0] >= 0, "the storage of the result holds fewer elements than its sizes say")
    return reply


def counted(count):
    """1, 2, 3, ... so that every element is told from the others."""
    return [float(i + 1) for i in range(count)]


def known(t, cases):
    for x_sizes, sizes, expected in cases:
        t.equal(sum_to(t, counted(math.prod(x_sizes)), x_sizes, sizes)["sum"], expected, "sum")


@T.test(3, "new dimensions", "dimensions that broadcasting put in front",
        hint="Sizes are aligned at the right: what is left over at the left of x was added by broadcasting.")
def _(t):
    known(t, [([2], [], [3.0]), ([2, 3], [3], [5.0, 7.0, 9.0]), ([2, 2, 2], [2], [16.0, 20.0]),
              ([2, 2, 2], [2, 2], [6.0, 8.0, 10.0, 12.0]), ([2, 3], [], [21.0])])
    t.equal(sum_to(t, [1.0, 2.0, 3.0, 4.0, math.nan, 6.0], [2, 3], [3])["sum"], [5.0, math.nan, 9.0], "sum of elements of which one is NaN")


@T.test(3, "size one", "dimensions that had size 1",
        hint="A dimension of size 1 was repeated; it stays in the result, with size 1.")
def _(t):
    known(t, [([3], [1], [6.0]), ([2, 3], [2, 1], [6.0, 15.0]), ([2, 3], [1, 3], [5.0, 7.0, 9.0]),
              ([2, 3], [1, 1], [21.0]), ([2, 2, 2], [2, 1, 2], [4.0, 6.0, 12.0, 14.0]),
              ([2, 2, 1, 1, 2], [2, 1, 1, 1, 1], [10.0, 26.0]), ([2, 1, 1, 2, 2], [1, 1, 1, 2, 1], [14.0, 22.0])])


@T.test(2, "both", "new dimensions, and dimensions of size 1, at once",
        hint="Find for each element of x which element of the result it was copied from.")
def _(t):
    known(t, [([2, 2], [1], [10.0]), ([2, 2, 2], [2, 1], [14.0, 22.0]), ([2, 2, 2], [1, 2], [16.0, 20.0]),
              ([2, 1, 3], [1, 1], [21.0])])


@T.test(2, "inner product", "random sizes: v broadcast, times x, is v times the sum",
        hint="An element of the result is the sum of all elements of x at whose place broadcasting put it.")
def _(t):
    for rank in range(1, 5):
        for _ in range(3):
            x_sizes = [t.random.randint(1, 4) for _ in range(rank)]
            sizes = [t.random.choice([1, size]) for size in x_sizes][t.random.randint(0, rank):]
            x, v = t.quarters(math.prod(x_sizes)), t.quarters(math.prod(sizes))
            reply = sum_to(t, x, x_sizes, sizes, offset=rank)
            found = reply["sum"]
            t.equal(reply["writes to x"], [0], "calls of write() of x, which is only read,")
            # The broadcast v at a position of x: size 1 has index 0.
            at = {tuple(p): each for p, each in zip(positions(sizes), v)}
            wide = [at[tuple(min(i, size - 1) for i, size in zip(p[rank - len(sizes):], sizes))]
                    for p in positions(x_sizes)]
            t.equal(sum(map(float.__mul__, found, v)), sum(map(float.__mul__, wide, x)), "the inner product")


@T.test(2, "same sizes", "nothing was broadcast: x itself, without a copy",
        hint="Compare the sizes first: where they are equal there is nothing to add up.")
def _(t):
    for sizes in ([], [3], [2, 3], [2, 1, 2]):
        x = counted(math.prod(sizes))
        reply = sum_to(t, x, sizes, sizes, offset=2)
        t.equal(reply["sum"], x, "sum")
        t.check(reply["same memory"][0] == 1, "the result has memory of its own; here x itself will do")


@T.test(2, "empty", "dimensions of size 0", hint="A sum of no elements is 0.")
def _(t):
    for x_sizes, sizes, expected in [([0], [], [0.0]), ([0, 2], [2], [0.0, 0.0]), ([0, 2], [1, 2], [0.0, 0.0]),
                                     ([2, 0], [0], []), ([2, 0], [2, 1], [0.0, 0.0])]:
        t.equal(sum_to(t, [], x_sizes, sizes)["sum"], expected, "sum")


@T.test(1, "throws", "sizes that do not broadcast to those of x",
        hint="Each size must be 1 or that of x, counted from the right, and there may be no more of them.")
def _(t):
    for x_sizes, sizes in [([3], [2]), ([1], [3]), ([2], [2, 1]), ([2, 3], [2]), ([2], [1, 2]), ([0], [2]), ([2, 3], [1, 2]), ([3], [0]), ([2, 3], [2, 0]),
                           ([2, 3], [6]), ([2, 3], [3, 2]), ([2, 3], [1, 6]), ([2, 3], [6, 1]), ([6], [2, 3])]:
        t.throws(f"sizes {sizes} do not broadcast to {x_sizes}", "std::invalid_argument",
                 **{"x": counted(6), "x sizes": x_sizes, "sizes": sizes, "offset": 0})
