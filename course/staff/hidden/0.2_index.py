"""Hidden tests of task 0.2."""
import math

from judge.testing import hidden


@hidden("0.2", of="round trip", test="random elements", title="positions of random elements",
        hint="With sizes (a, b, c), position (i, j, k) has number (i * b + j) * c + k.")
def _(t):
    for _ in range(30):
        sizes = [t.random.randint(1, 90) for _ in range(t.random.randint(1, 7))]
        n = t.random.randrange(math.prod(sizes))
        found = t.run(n=[n], sizes=sizes)["positions"]
        expected = [n // math.prod(sizes[d + 1:]) % sizes[d] for d in range(len(sizes))]
        t.equal(found, expected, "position")


@hidden("0.2", of="no such element", test="just outside", title="the first number that is too large",
        hint="The last element has the number count - 1.")
def _(t):
    for _ in range(10):
        sizes = [t.random.randint(1, 9) for _ in range(t.random.randint(0, 4))]
        count = math.prod(sizes)
        t.equal(t.run(n=[count - 1], sizes=sizes)["positions"], [size - 1 for size in sizes], "position of the last element")
        t.throws(f"element {count} of sizes {sizes}", "std::out_of_range", n=[count], sizes=sizes)


@hidden("0.2", of="large", test="larger sizes", title="a single size beyond 32 bits", hint="Sizes and indices are long, each of them.")
def _(t):
    for sizes in [[2 ** 32, 3], [3, 2 ** 32 + 7], [2 ** 20] * 3]:
        for _ in range(4):
            n = t.random.randrange(math.prod(sizes))
            expected = [n // math.prod(sizes[d + 1:]) % sizes[d] for d in range(len(sizes))]
            t.equal(t.run(n=[n], sizes=sizes)["positions"], expected, "position")
    t.equal(t.run(n=[2 ** 18], sizes=[2] * 20)["positions"], [0, 1] + [0] * 18, "position")
