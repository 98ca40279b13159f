"""Hidden tests of task 3.2."""
import math

from judge.testing import EXTREMES1, OF_EXTREMES1, Op1, hidden, nearly_contiguous, place, positions, public


def strides_of(t, sizes):
    """Strides of a tensor whose dimensions lie in memory in a random order, with gaps."""
    order, strides, step = list(range(len(sizes))), [0] * len(sizes), 1
    t.random.shuffle(order)
    for d in order:
        strides[d], step = step, step * sizes[d] + t.random.randint(0, 2)
    return strides


def negated(t, sizes, blocks, x_sizes=None):
    # Rows that lie apart, or any order of dimensions.
    out_strides = t.random.choice([strides_of(t, sizes), [2 * math.prod(sizes[d + 1:]) for d in range(len(sizes) - 1)] + [1]])
    x_sizes = x_sizes or [1 if t.random.random() < 0.25 else size for size in sizes]
    x_strides = [each if size > 1 else t.random.randint(1, 9) for each, size in zip(strides_of(t, x_sizes), x_sizes)]
    x = t.floats(1 + place([each - 1 for each in x_sizes], x_strides))
    count = 1 + place([each - 1 for each in sizes], out_strides)
    expected = [-777.0] * count
    for p in positions(sizes):
        expected[place(p, out_strides)] = -x[place([i if size > 1 else 0 for i, size in zip(p, x_sizes)], x_strides)]
    reply = t.run(out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, blocks=blocks, op=Op1.neg,
                  memory=[-777.0] * count, x=x)
    t.equal(reply["memory"], expected, "memory of out", -777.0)


@hidden("3.2", of="broadcast", test="random layouts", title="random sizes, strides of x and repeated dimensions",
        hint="Try tensors of up to 4 dimensions in any order, some of size 1.")
def _(t):
    for rank in (1, 2, 2, 3, 3, 4, 4, 4):
        negated(t, [t.random.randint(1, 4) for _ in range(rank)], 1)


@hidden("3.2", of="grid of 2", test="random grids", title="random numbers of elements and blocks",
        hint="Try 3000 elements and 1 to 5 blocks.")
def _(t):
    for blocks in (1, 2, 5):
        n = t.random.randint(1300, 3500)
        x = t.floats(n)
        reply = t.run(out_sizes=[n], out_strides=[1], x_sizes=[n], x_strides=[1], blocks=blocks, op=Op1.neg,
                      memory=[0.0] * n, x=x)
        t.equal(reply["memory"], [-each for each in x], "out")
        negated(t, [t.random.randint(5, 9), t.random.randint(20, 30), t.random.randint(10, 14)], blocks)


@hidden("3.2", of="sectors", test="order of the contract", title="block 0 takes the first 256 elements", hint="Thread number t of all begins with element t.")
def _(t):
    x = t.quarters(40)
    reply = t.run(out_sizes=[40], out_strides=[1], x_sizes=[40], x_strides=[1], blocks=2, op=Op1.neg, memory=[0.0] * 40, x=x)
    t.equal(reply["memory"], [-each for each in x], "out")
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), 10, "sectors, where one block has all elements", reply.worst("sectors"))


@hidden("3.2", of="grid of 2", test="many elements", title="20,000 elements", hint="A thread takes as many elements as it must.")
def _(t):
    x = t.quarters(20011)
    reply = t.run(out_sizes=[20011], out_strides=[1], x_sizes=[20011], x_strides=[1], blocks=3, op=Op1.neg, memory=[0.0] * 20011, x=x)
    t.equal(reply["memory"], [-each for each in x], "out")
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")


@hidden("3.2", of="gaps", test="rows apart", title="rows of out that lie apart, each of them contiguous",
        hint="A last stride of 1 does not make a tensor contiguous.")
def _(t):
    x = t.quarters(12)
    for sizes, strides in [([3, 4], [5, 1]), ([2, 2, 3], [9, 4, 1]), ([2, 3, 2], [8, 2, 1])]:
        expected = [-777.0] * 24
        for number, p in enumerate(positions(sizes)):
            expected[place(p, strides)] = -x[number]
        reply = t.run(out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=[math.prod(sizes[d + 1:]) for d in range(len(sizes))],
                      blocks=2, op=Op1.neg, memory=[-777.0] * 24, x=x)
        t.equal(reply["memory"], expected, "memory of out", -777.0)
        public("3.2").negated(t, sizes, strides, sizes, strides)


@hidden("3.2", of="contiguous", test="not finite", title="large numbers, infinity and NaN, by every operation",
        hint="Let apply(op, x) compute each result.")
def _(t):
    for op, expected in OF_EXTREMES1.items():
        reply = t.run(out_sizes=[7], out_strides=[1], x_sizes=[7], x_strides=[1], blocks=1, op=op, memory=[0.0] * 7, x=EXTREMES1)
        t.close(reply["memory"], expected, "out")


@hidden("3.2", of="sectors", test="sectors of all operations", title="each element is loaded once and stored once, by every operation",
        hint="A thread loads an element once, and stores once, whatever the operation.")
def _(t):
    for op in OF_EXTREMES1:
        reply = t.run(out_sizes=[7], out_strides=[1], x_sizes=[7], x_strides=[1], blocks=1, op=op, memory=[0.0] * 7, x=EXTREMES1)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 7, "loads from global memory")
            t.at_most(reply.total("global_stores"), 7, "stores to global memory")


def row_major(sizes):
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


def turned(t, sizes):
    """Strides of these sizes in a random order of dimensions."""
    order, strides, step = t.random.sample(range(len(sizes)), len(sizes)), [0] * len(sizes), 1
    for d in order:
        strides[d], step = step, step * sizes[d]
    return strides


@hidden("3.2", of="strides", test="random strides", title="random sizes, and dimensions in random orders", hint="The strides of x say where x lies, those of out where out lies.")
def _(t):
    for _ in range(6):
        sizes = [t.random.randint(1, 6) for _ in range(t.random.randint(1, 4))]
        public("3.2").negated(t, sizes, turned(t, sizes), sizes, turned(t, sizes), t.random.randint(1, 3))


@hidden("3.2", of="rank 0", test="no elements anywhere", title="sizes of 0 at random places", hint="Where a size is 0 there is no element.")
def _(t):
    for _ in range(4):
        sizes = [t.random.randint(0, 4) for _ in range(t.random.randint(1, 4))]
        sizes[t.random.randrange(len(sizes))] = 0
        reply = t.run(out_sizes=sizes, out_strides=[1] * len(sizes), x_sizes=sizes, x_strides=[1] * len(sizes), blocks=3, op=Op1.neg, memory=[-777.0] * 9, x=[1.0] * 9)
        t.equal(reply["memory"], [-777.0] * 9, "memory of out")


@hidden("3.2", of="blocks", test="other blocks", title="one launch of as many blocks as asked for, of random numbers", hint="`blocks` is the size of the grid.")
def _(t):
    for _ in range(4):
        n, blocks = t.random.randint(1, 900), t.random.randint(1, 40)
        reply = public("3.2").line(t, n, blocks)
        if not t.on_gpu:
            t.equal([each.grid for each in reply.launches], [[blocks, 1, 1]], "grids of the launches")


@hidden("3.2", of="broadcast", test="all ways to repeat", title="x has size 1 in each choice of dimensions", hint="Each dimension decides for itself whether its index counts.")
def _(t):
    for mask in range(16):
        negated(t, [2, 3, 2, 3], 1, [1 if mask >> d & 1 else size for d, size in enumerate([2, 3, 2, 3])])


@hidden("3.2", of="strides", test="nearly contiguous", title="x or out has the strides of a contiguous tensor in another order, with one gap, or with one stride of 0",
        hint="Every stride counts.")
def _(t):
    for sizes in ([2, 3, 2], [2, 3, 2, 3]):
        for strides in nearly_contiguous(sizes):
            public("3.2").negated(t, sizes, row_major(sizes), sizes, strides)
            if 0 not in strides:
                public("3.2").negated(t, sizes, strides, sizes, row_major(sizes))


@hidden("3.2", of="contiguous", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        for sizes in ([64], [16, 8], [2, 3, 4, 4]):
            public("3.2").negated(t, sizes, row_major(sizes), sizes, row_major(sizes), shift=shift)


@hidden("3.2", of="strides", test="in place", title="out is x, in any order of dimensions", hint="out and x may be the same memory.")
def _(t):
    for _ in range(3):
        sizes = [t.random.randint(2, 6) for _ in range(3)]
        strides, x = turned(t, sizes), t.quarters(math.prod(sizes))
        reply = t.run(out_sizes=sizes, out_strides=strides, x_sizes=sizes, x_strides=strides, blocks=1, op=Op1.square, memory=x, x=[], in_place=1)
        t.equal(reply["memory"], [each * each for each in x], "out, which is x")


@hidden("3.2", of="strides", test="strides of all operations", title="x and out lie otherwise, by every operation", hint="The position is the same, whatever the operation.")
def _(t):
    x = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0]
    for op, f in public("3.1").FUNCTIONS.items():
        for out_strides, x_strides in [([3, 1], [1, 2]), ([1, 2], [3, 1])]:
            reply = t.run(out_sizes=[2, 3], out_strides=out_strides, x_sizes=[2, 3], x_strides=x_strides, blocks=2, op=op, memory=[-777.0] * 6, x=x)
            expected = [0.0] * 6
            for p in positions([2, 3]):
                expected[place(p, out_strides)] = f(x[place(p, x_strides)])
            t.close(reply["memory"], expected, "memory of out", least=0)
