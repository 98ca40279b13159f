"""Hidden tests of task 0.3."""
import itertools

from judge.testing import hidden


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
    t.equal(t.run(a=[2, 1] * 8, b=[1, 5] * 6)["sizes"], [2, 1] * 2 + [2, 5] * 6, "sizes")
    for a, b in [([big + 2], [2]), ([big], [2 * big]), ([big], [0])]:
        t.throws(f"sizes {a} and {b}", "std::invalid_argument", a=a, b=b)
