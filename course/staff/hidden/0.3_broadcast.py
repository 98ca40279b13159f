"""Hidden tests of task 0.3."""
import itertools

from judge.testing import hidden, public


@hidden("0.3", of="refused", test="all small sizes", title="all pairs of sizes up to 3 in at most two dimensions",
        hint="Two sizes fit where they agree or one of them is 1.")
def _(t):
    shapes = [list(each) for rank in range(3) for each in itertools.product(range(4), repeat=rank)]
    for a, b in itertools.product(shapes, shapes):
        rank = max(len(a), len(b))
        pairs = list(zip([1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b))
        if any(1 not in pair and pair[0] != pair[1] for pair in pairs):
            t.throws(f"sizes {a} and {b}", "std::invalid_argument", a=a, b=b)
        else:
            t.equal(t.run(a=a, b=b)["sizes"], [y if x == 1 else x for x, y in pairs], "sizes")


@hidden("0.3", of="random", test="large sizes", title="sizes beyond 32 bits, and many dimensions", hint="Compare whole sizes: they are long.")
def _(t):
    big = 2 ** 32
    t.equal(t.run(a=[big + 1, 1], b=[1, big])["sizes"], [big + 1, big], "sizes")
    for times in (8, 40):
        t.equal(t.run(a=[2, 1] * times, b=[1, 5] * 6)["sizes"], [2, 1] * (times - 6) + [2, 5] * 6, "sizes")
    for a, b in [([big + 2], [2]), ([big], [2 * big]), ([big], [0])]:
        t.throws(f"sizes {a} and {b}", "std::invalid_argument", a=a, b=b)


@hidden("0.3", of="refused", test="one place", title="random sizes that differ at one place", hint="Look at every dimension that both have, also where another one is 0.")
def _(t):
    for rank in range(1, 8):
        for at in range(rank):
            a = [t.random.randint(2, 9) for _ in range(rank)]
            b = [t.random.choice([1, size]) for size in a]
            b[at] = a[at] + t.random.choice([1, 5, 2 ** 32])
            for other in range(rank):
                if other != at and t.random.random() < 0.3:
                    a[other], b[other] = 0, t.random.choice([0, 1])
            for x, y in ((a, b), (b, a), ([7, 1, *a], b)):
                t.throws(f"sizes {x} and {y}", "std::invalid_argument", a=x, b=y)


@hidden("0.3", of="same sizes", test="other same sizes", title="random sizes that agree", hint="Sizes that agree stay as they are.")
def _(t):
    for rank in range(1, 8):
        sizes = [t.random.randint(1, 99) for _ in range(rank)]
        public("0.3").broadcasts(t, (sizes, sizes, sizes))


@hidden("0.3", of="size one", test="ones anywhere", title="random sizes, one of two 1", hint="Where one size is 1 the result has the other one.")
def _(t):
    for rank in range(1, 8):
        pairs = [t.random.choice([(1, size), (size, 1)]) for size in (t.random.randint(1, 99) for _ in range(rank))]
        public("0.3").broadcasts(t, ([a for a, _ in pairs], [b for _, b in pairs], [a * b for a, b in pairs]))


@hidden("0.3", of="ranks", test="other ranks", title="random sizes of different rank", hint="Write the sizes one list below the other, the last ones aligned.")
def _(t):
    for rank in range(1, 8):
        full = [t.random.randint(2, 9) for _ in range(rank)]
        short = [t.random.choice([1, size]) for size in full[t.random.randint(1, rank):]]
        public("0.3").broadcasts(t, (full, short, full))


@hidden("0.3", of="no dimensions", test="a number and others", title="a single number beside random sizes", hint="A single number broadcasts to anything.")
def _(t):
    for rank in range(1, 6):
        sizes = [t.random.randint(0, 9) for _ in range(rank)]
        public("0.3").broadcasts(t, ([], sizes, sizes))


@hidden("0.3", of="size zero", test="zeros anywhere", title="sizes of 0 at random places", hint="Size 0 is a size like any other.")
def _(t):
    for rank in range(1, 7):
        full = [t.random.choice([0, t.random.randint(2, 9)]) for _ in range(rank)]
        full[t.random.randrange(rank)] = 0
        public("0.3").broadcasts(t, (full, [t.random.choice([1, size]) for size in full], full))
