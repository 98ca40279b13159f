"""Tests of task 0.2."""
from judge.testing import task

T = task("0.2", "The position of an element", 15, "0_tensors/0.2_index.cpp", exports=["course::index_of"])

# sizes, and the positions of some elements by their numbers
KNOWN = [([5], {0: [0], 3: [3], 4: [4]}), ([2, 3], {0: [0, 0], 1: [0, 1], 3: [1, 0], 5: [1, 2]}),
         ([2, 3, 4], {7: [0, 1, 3], 12: [1, 0, 0], 23: [1, 2, 3]}), ([4, 2, 3], {8: [1, 0, 2]}),
         ([2] * 6, {21: [0, 1, 0, 1, 0, 1]})]


def positions_of(t, n, sizes):
    return t.run(n=n, sizes=sizes)["positions"]


@T.test(3, "known", "positions of some elements",
        hint="The last index runs fastest: element 1 is next to element 0 along the last dimension.")
def _(t):
    for sizes, known in KNOWN:
        for n, expected in known.items():
            t.equal(positions_of(t, [n], sizes), expected, "position")


@T.test(2, "size one", "dimensions of size 1", hint="The index along a dimension of size 1 is always 0.")
def _(t):
    t.equal(positions_of(t, [1], [1, 3, 1]), [0, 1, 0], "position")
    t.equal(positions_of(t, [2], [3, 1, 2]), [1, 0, 0], "position")
    t.equal(positions_of(t, [5], [3, 1, 2]), [2, 0, 1], "position")


@T.test(3, "round trip", "the element at the position has the number again",
        hint="With sizes (a, b, c), position (i, j, k) has number (i * b + j) * c + k.")
def _(t):
    for rank in range(1, 5):
        sizes = [t.random.randint(2, 5) for _ in range(rank)]
        count = 1
        for size in sizes:
            count *= size
        found = positions_of(t, list(range(count)), sizes)
        t.check(len(found) == count * rank, f"found {len(found)} indices, expected {rank} for each element")
        for n in range(count):
            position, number = found[n * rank:(n + 1) * rank], 0
            for index, size in zip(position, sizes):
                t.check(0 <= index < size, f"element {n}: found position {position}, which is not within the sizes")
                number = number * size + index
            t.equal(number, n, f"number of the element at position {position}, found for element {n}")


@T.test(2, "large", "more elements than an int can count", hint="Products of sizes, and indices, may need 64 bits: use long.")
def _(t):
    t.equal(positions_of(t, [4900000000 + 2 * 70000 + 5], [3, 70000, 70000]), [1, 2, 5], "position")
    t.equal(positions_of(t, [2 ** 32 + 7], [2 ** 33]), [2 ** 32 + 7], "position")


@T.test(1, "no dimensions", "a single number", hint="A tensor without dimensions has one element, with an empty position.")
def _(t):
    t.equal(positions_of(t, [0], []), [], "position")


@T.test(2, "no such element", "numbers below 0 and beyond the last one",
        hint="Compare n, all of its 64 bits, with the number of elements before anything else.")
def _(t):
    for n, sizes in [(3, [3]), (6, [2, 3]), (-1, [2, 3]), (-2, [2, 3]), (1, []), (1000, [2, 2]), (2 ** 32 + 1, [3]), (-2 ** 63, [2, 3])]:
        t.throws(f"element {n} of sizes {sizes}", "std::out_of_range", n=[n], sizes=sizes)


@T.test(2, "size zero", "a tensor without elements",
        hint="Where a size is 0 there is no element 0 either; no division may come before that check.")
def _(t):
    for sizes in [[0], [2, 0], [0, 3], [2, 0, 3]]:
        t.throws(f"element 0 of sizes {sizes}", "std::out_of_range", n=[0], sizes=sizes)
