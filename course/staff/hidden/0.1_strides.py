"""Hidden tests of task 0.1."""
import math

from judge.testing import hidden


@hidden("0.1", of="in order", test="random sizes", title="strides of random sizes",
        hint="Each stride is the product of the sizes behind it.")
def _(t):
    for _ in range(30):
        sizes = [t.random.randint(1, 60) for _ in range(t.random.randint(1, 7))]
        t.equal(t.run(sizes=sizes)["strides"], [math.prod(sizes[d + 1:]) for d in range(len(sizes))], "strides")


@hidden("0.1", of="size zero", test="zeros anywhere", title="sizes of 0 at any place", hint="A dimension of size 0 counts as size 1.")
def _(t):
    for sizes, expected in [([0], [1]), ([0, 4], [4, 1]), ([5, 0], [1, 1]), ([3, 0, 0, 2], [2, 2, 2, 1]), ([2 ** 40, 0, 2 ** 40], [2 ** 40, 2 ** 40, 1])]:
        t.equal(t.run(sizes=sizes)["strides"], expected, "strides")


@hidden("0.1", of="large", test="many dimensions", title="70 dimensions, sizes beyond 32 bits, and more elements than a long counts", hint="Nothing limits the number of dimensions.")
def _(t):
    t.equal(t.run(sizes=[2] * 20)["strides"], [2 ** (19 - d) for d in range(20)], "strides")
    t.equal(t.run(sizes=[1] * 50 + [2] * 20)["strides"], [2 ** 20] * 50 + [2 ** (19 - d) for d in range(20)], "strides")
    t.equal(t.run(sizes=[3, 1, 2 ** 33, 5])["strides"], [5 * 2 ** 33, 5 * 2 ** 33, 5, 1], "strides")
    for _ in range(6):  # odd products beyond 2^53, which no double holds
        a, b = (2 * t.random.randint(2 ** 27, 2 ** 29) + 1 for _ in range(2))
        t.equal(t.run(sizes=[2, a, b])["strides"], [a * b, b, 1], "strides")
        t.equal(t.run(sizes=[a, b, a])["strides"], [a * b, a, 1], "strides")


@hidden("0.1", of="known", test="same size lists again", title="the same sizes in another order, and none, one call after the other", hint="A call depends on its own sizes alone.")
def _(t):
    sizes = [2, 3, 4, 5]
    for _ in range(8):
        t.random.shuffle(sizes)
        t.equal(t.run(sizes=sizes)["strides"], [math.prod(sizes[d + 1:]) for d in range(4)], "strides")
        t.equal(t.run(sizes=[])["strides"], [], "strides")


@hidden("0.1", of="known", test="other sizes", title="random sizes of 2 and more", hint="The last dimension has stride 1; go from the last to the first.")
def _(t):
    for _ in range(12):
        sizes = [t.random.randint(2, 40) for _ in range(t.random.randint(1, 6))]
        t.equal(t.run(sizes=sizes)["strides"], [math.prod(sizes[d + 1:]) for d in range(len(sizes))], "strides")


@hidden("0.1", of="size one", test="ones anywhere", title="sizes of 1 at random places", hint="A dimension of size 1 gets the stride that it would have with any other size.")
def _(t):
    for _ in range(12):
        sizes = [t.random.choice([1, 1, t.random.randint(2, 9)]) for _ in range(t.random.randint(1, 6))]
        t.equal(t.run(sizes=sizes)["strides"], [math.prod(sizes[d + 1:]) for d in range(len(sizes))], "strides")
