"""Hidden tests of task 1.1."""
import array
import itertools
import math

from judge.testing import EXTREMES1, FAR, OF_EXTREMES1, Op1, hidden, nearly_contiguous, place, positions, public


def strides_for(t, sizes):
    """Random strides without overlap, in a random order of dimensions, with gaps."""
    order, strides, step = list(range(len(sizes))), [0] * len(sizes), 1
    t.random.shuffle(order)
    for d in order:
        strides[d] = step
        step = step * sizes[d] + t.random.randint(0, 2)
    return strides, step


@hidden("1.1", of="strides of out", test="random layouts", title="random layouts of x and out",
        hint="The same position lies at different places in out and in x.")
def _(t):
    for op in [*Op1] * 4:
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(0, 4))]
        x_sizes = [t.random.choice([1, size]) for size in sizes]
        (out_strides, out_count), (x_strides, x_count) = strides_for(t, sizes), strides_for(t, x_sizes)
        x = t.quarters(x_count, 1, 8)
        expected = [-999.5] * out_count
        for p in positions(sizes):
            expected[place(p, out_strides)] = public("1.1").FUNCTIONS[op](x[place([i % size for i, size in zip(p, x_sizes)], x_strides)])
        found = t.run(op=op, out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, x=x,
                      memory=[-999.5] * out_count)["memory"]
        t.close(found, expected, "out's memory", least=0)


@hidden("1.1", of="strides of x", test="nearly contiguous", title="x has the strides of a contiguous tensor but for one place, or in another order", hint="Every stride counts.")
def _(t):
    for sizes in ([2, 3, 2], [2, 3, 2, 3]):
        for op, strides in zip(itertools.cycle(Op1), nearly_contiguous(sizes)):
            public("1.1").right(t, sizes, x_strides=strides, op=op if op != Op1.exp else Op1.neg)  # exp of some is too large


@hidden("1.1", of="strides of out", test="nearly contiguous", title="out has the strides of a contiguous tensor in another order, or with one gap", hint="Every stride counts.")
def _(t):
    for sizes in ([2, 3, 2], [2, 3, 2, 3]):
        for op, strides in zip(itertools.cycle(Op1), nearly_contiguous(sizes)):
            if 0 not in strides:
                public("1.1").right(t, sizes, out_strides=strides, op=op)


@hidden("1.1", of="contiguous", test="many elements", title="a tensor of 20,000 elements", hint="Look at the smaller cases first.")
def _(t):
    x = t.quarters(20000)
    found = t.run(op=Op1.square, out_sizes=[200, 100], out_strides=[100, 1], x_sizes=[200, 100], x_strides=[100, 1], x=x,
                  memory=[0.0] * 20000)["memory"]
    t.equal(found, [v * v for v in x], "out")


@hidden("1.1", of="in place", test="others in place", title="out is x", hint="Read an element before you write to its place, and no other.")
def _(t):
    for sizes, strides in [([7], [1]), ([3, 4], [1, 3]), ([2, 3, 2], [12, 2, 1])]:
        count = 1 + place([size - 1 for size in sizes], strides)
        x = t.quarters(count)
        expected = list(x)
        for p in positions(sizes):
            expected[place(p, strides)] = -x[place(p, strides)]
        found = t.run(op=Op1.neg, out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=strides, x=[], memory=x, in_place=1)["memory"]
        t.equal(found, expected, "out, which is x")


@hidden("1.1", of="operations", test="operations on others", title="each operation, on random numbers, small ones and negative ones", hint="Let apply(op, x) compute each result.")
def _(t):
    for x in t.floats(9, 0.1, 6), [sign * 10.0 ** -e for e in (1, 2, 4, 6, 8, 12, 18) for sign in (1, -1)], t.floats(9, -15, -1):
        x = list(array.array("f", x))
        for op, f in public("1.1").FUNCTIONS.items():
            kept = [value for value in x if value > 0] if op == Op1.log else x
            one = dict(out_sizes=[len(kept)], out_strides=[1], x_sizes=[len(kept)], x_strides=[1])
            if kept:
                t.close(t.run(op=op, **one, x=kept, memory=[-999.5] * len(kept))["memory"], list(map(f, kept)), "out", least=0)


@hidden("1.1", of="not finite", test="not finite elsewhere", title="large numbers, infinity and NaN among others", hint="Let apply(op, x) compute each result.")
def _(t):
    for op, expected in OF_EXTREMES1.items():
        order = t.random.choices(range(7), k=20)
        found = t.run(op=op, out_sizes=[4, 5], out_strides=[1, 4], x_sizes=[4, 5], x_strides=[1, 4], x=[EXTREMES1[i] for i in order], memory=[-999.5] * 20)["memory"]
        t.close(found, [expected[i] for i in order], "out")


@hidden("1.1", of="contiguous", test="long dimensions", title="dimensions of 5,000", hint="Nothing limits a size.")
def _(t):
    for sizes, strides in [([5003], [1]), ([2, 5003], [5003, 1]), ([5003, 1, 2], [1, 1, 5003])]:
        x = t.quarters(5003 * (1 if len(sizes) == 1 else 2))
        found = t.run(op=Op1.neg, out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=strides, x=x, memory=[0.0] * len(x))["memory"]
        t.equal(found, [-each for each in x], "out")


@hidden("1.1", of="strides of x", test="far apart", title="rows that lie 2^32 elements apart", hint="Strides and places are long.")
def _(t):
    x = t.quarters(6)
    found = t.run(op=Op1.neg, out_sizes=[2, 3], out_strides=[FAR, 1], x_sizes=[2, 3], x_strides=[FAR, 1], x=x, memory=[0.0] * 6, apart=FAR)["memory"]
    t.equal(found, [-each for each in x], "out")


@hidden("1.1", of="gaps", test="random gaps", title="random layouts of out: what lies between its elements stays", hint="Walk over positions, not over memory.")
def _(t):
    for _ in range(10):
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(1, 4))]
        found, expected = public("1.1").maps(t, sizes, strides_for(t, sizes)[0])
        t.check(all(value == public("1.1").POISON for at, value in enumerate(found) if at not in expected), "memory that is none of out's elements was written")


@hidden("1.1", of="size one", test="ones anywhere", title="x has size 1 at random places", hint="Where x has size 1 every index leads to its one element.")
def _(t):
    for _ in range(10):
        sizes = [t.random.randint(1, 6) for _ in range(t.random.randint(1, 4))]
        public("1.1").right(t, sizes, x_sizes=[t.random.choice([1, size]) for size in sizes])


@hidden("1.1", of="one and none", test="zeros anywhere", title="sizes of 0 at random places", hint="The number of elements is the product of the sizes.")
def _(t):
    for _ in range(6):
        sizes = [t.random.randint(0, 4) for _ in range(t.random.randint(1, 4))]
        sizes[t.random.randrange(len(sizes))] = 0
        found, _ = public("1.1").maps(t, sizes)
        t.equal(found, [public("1.1").POISON] * len(found), "memory of an out without elements")


def repeating(sizes, mask):
    """Sizes of 1 where the mask has a bit, and strides: 99 where a step would be wrong."""
    own = [1 if mask >> d & 1 else size for d, size in enumerate(sizes)]
    return own, [99 if own[d] == 1 else math.prod(own[d + 1:]) for d in range(len(own))]


@hidden("1.1", of="size one", test="all ways to repeat", title="x has size 1 in each choice of dimensions", hint="Each dimension decides for itself whether its index counts.")
def _(t):
    for mask in range(16):
        x_sizes, x_strides = repeating([2, 3, 2, 3], mask)
        for op in Op1:
            public("1.1").right(t, [2, 3, 2, 3], x_sizes=x_sizes, x_strides=x_strides, op=op)
