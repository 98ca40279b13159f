"""Hidden tests of task 0.2."""
import math

from judge.testing import hidden, public


@hidden("0.2", of="round trip", test="random elements", title="positions of random elements",
        hint="With sizes (a, b, c), position (i, j, k) has number (i * b + j) * c + k.")
def _(t):
    for _ in range(30):
        sizes = [t.random.randint(1, 90) for _ in range(t.random.randint(1, 7))]
        n = t.random.randrange(math.prod(sizes))
        found = t.run(n=[n], sizes=sizes)["positions"]
        expected = [n // math.prod(sizes[d + 1:]) % sizes[d] for d in range(len(sizes))]
        t.equal(found, expected, "position")


@hidden("0.2", of="no such element", test="just outside", title="numbers below 0, the first that is too large, and larger ones",
        hint="The last element has the number count - 1.")
def _(t):
    for _ in range(10):
        sizes = [t.random.randint(1, 9) for _ in range(t.random.randint(0, 4))]
        count = math.prod(sizes)
        t.equal(t.run(n=[count - 1], sizes=sizes)["positions"], [size - 1 for size in sizes], "position of the last element")
        t.throws(f"element {count} of sizes {sizes}", "std::out_of_range", n=[count], sizes=sizes)
        for n in (-count, -t.random.randint(1, 99), count + t.random.randint(1, 99), 2 ** 32 + t.random.randrange(count), 2 ** 63 - 1, -2 ** 63):
            t.throws(f"element {n} of sizes {sizes}", "std::out_of_range", n=[n], sizes=sizes)


@hidden("0.2", of="large", test="larger sizes", title="a single size beyond 32 bits, and 70 dimensions", hint="Sizes and indices are long, each of them.")
def _(t):
    for sizes in [[2 ** 32, 3], [3, 2 ** 32 + 7], [2 ** 20] * 3]:
        for _ in range(4):
            n = t.random.randrange(math.prod(sizes))
            expected = [n // math.prod(sizes[d + 1:]) % sizes[d] for d in range(len(sizes))]
            t.equal(t.run(n=[n], sizes=sizes)["positions"], expected, "position")
    t.equal(t.run(n=[2 ** 18], sizes=[2] * 20)["positions"], [0, 1] + [0] * 18, "position")
    t.equal(t.run(n=[5], sizes=[1] * 67 + [2] * 3)["positions"], [0] * 67 + [1, 0, 1], "position")


def position(n, sizes):
    out = []
    for size in reversed(sizes):
        out.append(n % size)
        n //= size
    return out[::-1]


@hidden("0.2", of="known", test="other positions", title="random elements of random sizes", hint="The last index runs fastest.")
def _(t):
    for _ in range(12):
        sizes = [t.random.randint(2, 40) for _ in range(t.random.randint(1, 5))]
        n = t.random.randrange(math.prod(sizes))
        t.equal(public("0.2").positions_of(t, [n], sizes), position(n, sizes), "position")


@hidden("0.2", of="size one", test="ones anywhere", title="sizes of 1 at random places", hint="The index along a dimension of size 1 is always 0.")
def _(t):
    for _ in range(12):
        sizes = [t.random.choice([1, 1, t.random.randint(2, 9)]) for _ in range(t.random.randint(1, 6))]
        n = t.random.randrange(math.prod(sizes))
        t.equal(public("0.2").positions_of(t, [n], sizes), position(n, sizes), "position")


@hidden("0.2", of="size zero", test="zeros anywhere", title="sizes of 0 at random places", hint="Where a size is 0 there is no element 0 either.")
def _(t):
    for _ in range(8):
        sizes = [t.random.randint(0, 5) for _ in range(t.random.randint(1, 5))]
        sizes[t.random.randrange(len(sizes))] = 0
        t.throws(f"an element of sizes {sizes}", "std::out_of_range", n=[t.random.randint(0, 3)], sizes=sizes)
