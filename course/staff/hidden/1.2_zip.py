"""Hidden tests of task 1.2."""
import itertools
import math

from judge.testing import EXTREMES2, FAR, OF_EXTREMES2, Op2, hidden, nearly_contiguous, place, positions, public


def strides_for(t, sizes):
    """Random strides without overlap, in a random order of dimensions, with gaps."""
    order, strides, step = list(range(len(sizes))), [0] * len(sizes), 1
    t.random.shuffle(order)
    for d in order:
        strides[d] = step
        step = step * sizes[d] + t.random.randint(0, 2)
    return strides, step


@hidden("1.2", of="broadcast", test="random layouts", title="random layouts of x, y and out",
        hint="A position lies at three places, one in each tensor; where a size is 1, its stride must not count.")
def _(t):
    for round, op in enumerate([*Op2] * 8):
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(0, 4))]
        x_sizes, y_sizes = ([t.random.choice([1, size]) for size in sizes] for _ in range(2))
        if round < 10:  # nothing repeats, whatever is drawn
            sizes = x_sizes = y_sizes = [2, 3, 4]
        (out_strides, count), (x_strides, x_count), (y_strides, y_count) = (strides_for(t, each) for each in (sizes, x_sizes, y_sizes))
        x, y = t.quarters(x_count), [value or 0.5 for value in t.quarters(y_count)]
        expected = [-999.5] * count
        for p in positions(sizes):
            x_at, y_at = (place([i % size for i, size in zip(p, s)], strides) for s, strides in ((x_sizes, x_strides), (y_sizes, y_strides)))
            expected[place(p, out_strides)] = public("1.2").FUNCTIONS[op](x[x_at], y[y_at])
        found = t.run(op=op, out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, y_sizes=y_sizes,
                      y_strides=y_strides, x=x, y=y, memory=[-999.5] * count)["memory"]
        t.close(found, expected, "out's memory", 1e-6, least=0)


@hidden("1.2", of="strides", test="nearly contiguous", title="one tensor has the strides of a contiguous one but for one place, or in another order", hint="Every stride of each tensor counts.")
def _(t):
    for sizes in ([2, 3, 2], [2, 3, 2, 3]):
        for op, strides in zip(itertools.cycle(Op2), nearly_contiguous(sizes)):
            public("1.2").right(t, sizes, x=(sizes, strides), op=op, step=-1000)
            public("1.2").right(t, sizes, y=(sizes, strides), op=op)
            if 0 not in strides:
                public("1.2").right(t, sizes, out_strides=strides, op=op)


@hidden("1.2", of="in place", test="others in place", title="out is x, or y, or both", hint="Read both elements before you write.")
def _(t):
    layouts = {f"{name}_{what}": value for name in ("out", "x", "y") for what, value in (("sizes", [3, 4]), ("strides", [4, 1]))}
    x, y = t.quarters(12), [value or 0.5 for value in t.quarters(12)]
    for op, f in public("1.2").FUNCTIONS.items():
        for in_place, memory in [(1, x), (2, y), (3, y)]:
            found = t.run(op=op, x=x, y=y, memory=memory, in_place=in_place, **layouts)["memory"]
            t.close(found, [f(a, b) for a, b in zip(x if in_place < 3 else y, y)], "out, which is an operand", 1e-6, least=0)


@hidden("1.2", of="same sizes", test="many elements", title="a tensor of 20,000 elements", hint="Look at the smaller cases first.")
def _(t):
    layout = dict(out_sizes=[200, 100], out_strides=[100, 1], x_sizes=[200, 100], x_strides=[100, 1], y_sizes=[1, 100], y_strides=[7, 1])
    x, y = t.quarters(20000), t.quarters(100)
    found = t.run(op=Op2.mul, x=x, y=y, memory=[0.0] * 20000, **layout)["memory"]
    t.equal(found, [a * y[i % 100] for i, a in enumerate(x)], "out")


@hidden("1.2", of="operations", test="operations on others", title="each operation, on random numbers, to the last bit", hint="x - y is not y - x.")
def _(t):
    layouts = {f"{name}_{what}": [value] for name in ("out", "x", "y") for what, value in (("sizes", 9), ("strides", 1))}
    for x, y in ((t.quarters(9), [t.random.choice([0.5, 2.0, -4.0]) for _ in range(9)]), (t.floats(9, 1e30, 3e38), t.floats(9, 1e30, 3e38)),
                 (t.floats(9, 1, 100), t.floats(9, -100, -1)), (t.floats(9, 1e-30, 1e-29), t.floats(9, 1e-3, 1))):
        for op, f in public("1.2").FUNCTIONS.items():
            if op != Op2.mul or max(x) < 1e19:
                t.equal(t.run(op=op, x=x, y=y, memory=[-999.5] * 9, **layouts)["memory"], [public("1.2").rounded(f(a, b)) for a, b in zip(x, y)], "out, to the last bit")


@hidden("1.2", of="not finite", test="not finite elsewhere", title="infinity and NaN among others", hint="Let apply(op, x, y) compute each result.")
def _(t):
    layouts = {f"{name}_{what}": value for name in ("out", "x", "y") for what, value in (("sizes", [4, 5]), ("strides", [1, 4]))}
    for op, expected in OF_EXTREMES2.items():
        order = t.random.choices(range(6), k=20)
        x, y = ([each[i] for i in order] for each in EXTREMES2)
        t.equal(t.run(op=op, x=x, y=y, memory=[-999.5] * 20, **layouts)["memory"], [expected[i] for i in order], "out")


@hidden("1.2", of="strides", test="far apart", title="rows that lie 2^32 elements apart", hint="Strides and places are long.")
def _(t):
    x, y = t.quarters(6), t.quarters(6)
    layouts = {f"{name}_{what}": value for name in ("out", "x", "y") for what, value in (("sizes", [2, 3]), ("strides", [FAR, 1]))}
    found = t.run(op=Op2.sub, x=x, y=y, memory=[0.0] * 6, apart=FAR, **layouts)["memory"]
    t.equal(found, [a - b for a, b in zip(x, y)], "out")


@hidden("1.2", of="same sizes", test="long dimensions", title="dimensions of 5,003", hint="Nothing limits a size.")
def _(t):
    for sizes in ([5003], [2, 5003], [5003, 2], [2, 5003, 1]):
        public("1.2").right(t, sizes)
    public("1.2").right(t, [2, 5003], x=[2, 1], y=[1, 5003], op=Op2.sub)


def operands(t, sizes):
    """Sizes of two operands that are as long as out, or 1."""
    return [[t.random.choice([1, size]) for size in sizes] for _ in range(2)]


@hidden("1.2", of="both repeat", test="both repeat anywhere", title="random operands of size 1", hint="The elements of out are more than those of x, and of y.")
def _(t):
    for _ in range(10):
        sizes = [t.random.randint(2, 5) for _ in range(t.random.randint(2, 4))]
        x, y = operands(t, sizes)
        d, e = t.random.sample(range(len(sizes)), 2)
        x[d] = y[e] = 1
        public("1.2").all_right(t, sizes, x=x, y=y)


@hidden("1.2", of="broadcast", test="zeros anywhere", title="random strides of 0", hint="A stride of 0 needs no case of its own.")
def _(t):
    for _ in range(8):
        sizes = [t.random.randint(2, 5) for _ in range(t.random.randint(1, 4))]
        x, y = ((sizes, [t.random.choice([0, each]) for each in public("1.2").row_major(sizes)]) for _ in range(2))
        public("1.2").right(t, sizes, x=x, y=y)


@hidden("1.2", of="gaps", test="random gaps", title="random strides of out: what lies between its elements stays", hint="Only the elements of out are yours.")
def _(t):
    for _ in range(8):
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(1, 3))]
        step = t.random.randint(1, 4)
        found, expected = public("1.2").zips(t, sizes, out_strides=[step * each for each in public("1.2").row_major(sizes)])
        t.check(all(value == public("1.2").POISON for at, value in enumerate(found) if at not in expected), "memory that is none of out's elements was written")


@hidden("1.2", of="one and none", test="no elements anywhere", title="sizes of 0 at random places", hint="An empty product of sizes is 1; a size 0 makes it 0.")
def _(t):
    for _ in range(6):
        sizes = [t.random.randint(0, 4) for _ in range(t.random.randint(1, 4))]
        sizes[t.random.randrange(len(sizes))] = 0
        found, _ = public("1.2").zips(t, sizes)
        t.equal(found, [public("1.2").POISON] * len(found), "memory of an out without elements")


def repeating(sizes, mask):
    """Sizes of 1 where the mask has a bit, and strides: 99 where a step would be wrong."""
    own = [1 if mask >> d & 1 else size for d, size in enumerate(sizes)]
    return own, [99 if own[d] == 1 else math.prod(own[d + 1:]) for d in range(len(own))]


@hidden("1.2", of="broadcast", test="all ways to repeat", title="x and y have size 1 in each choice of dimensions", hint="Each dimension of each operand decides for itself.")
def _(t):
    sizes = [2, 3, 2, 3]
    for mask in range(16):
        other = repeating(sizes, t.random.randrange(16))
        public("1.2").all_right(t, sizes, x=repeating(sizes, mask), y=other)
        public("1.2").all_right(t, sizes, x=other, y=repeating(sizes, mask))
