"""Hidden tests of task 3.3."""
import array
import math

from judge.testing import EXTREMES2, OF_EXTREMES2, Op2, hidden, nearly_contiguous, place, positions, public


def strides_of(t, sizes):
    """Strides of a tensor whose dimensions lie in memory in a random order, with gaps."""
    order, strides, step = list(range(len(sizes))), [0] * len(sizes), 1
    t.random.shuffle(order)
    for d in order:
        strides[d], step = step, step * sizes[d] + t.random.randint(0, 2)
    return strides


def operand(t, sizes):
    own = [1 if t.random.random() < 0.3 else size for size in sizes]
    strides = [each if size > 1 else t.random.randint(0, 9) for each, size in zip(strides_of(t, own), own)]
    return own, strides, t.quarters(1 + place([each - 1 for each in own], strides), -9999, 9999)


@hidden("3.3", of="size 1", test="random layouts", title="random sizes, strides and repeated dimensions",
        hint="Try tensors of up to 4 dimensions in any order, where x and y have size 1 in some of them.")
def _(t):
    for rank in (1, 2, 2, 3, 3, 4, 4, 4):
        sizes = [t.random.randint(1, 4) for _ in range(rank)]
        out_strides, left, right = strides_of(t, sizes), operand(t, sizes), operand(t, sizes)
        expected = [-777.0] * (1 + place([each - 1 for each in sizes], out_strides))
        for p in positions(sizes):
            x, y = (memory[place([i if size > 1 else 0 for i, size in zip(p, own)], strides)]
                    for own, strides, memory in (left, right))
            expected[place(p, out_strides)] = x - y
        reply = t.run(out_sizes=sizes, out_strides=out_strides, x_sizes=left[0], x_strides=left[1], y_sizes=right[0],
                      y_strides=right[1], op=Op2.sub, memory=[-777.0] * len(expected), x=left[2], y=right[2])
        t.equal(reply["memory"], expected, "memory of out", -777.0)


@hidden("3.3", of="many", test="random lengths", title="random numbers of elements", hint="Try up to 6000 elements.")
def _(t):
    for n in sorted(t.random.randint(257, 6000) for _ in range(4)):
        x, y = t.quarters(n), t.quarters(n)
        reply = t.run(out_sizes=[n], out_strides=[1], x_sizes=[n], x_strides=[1], y_sizes=[n], y_strides=[1], op=Op2.mul,
                      memory=[0.0] * n, x=x, y=y)
        t.equal(reply["memory"], [a * b for a, b in zip(x, y)], "out")
    sizes = [t.random.randint(5, 9), t.random.randint(20, 30), t.random.randint(10, 14)]
    public("3.3").added(t, sizes, turned(t, sizes), sizes, turned(t, sizes), sizes, turned(t, sizes))
    for d in range(4):
        sizes = [t.random.randint(1, 4) for _ in range(4)]
        sizes[d] = t.random.randint(65536, 999999)
        public("3.3").queued(t, sizes)
    public("3.3").queued(t, [2 ** 17 + 1, 2 ** 15 + 1])


@hidden("3.3", of="many", test="many elements", title="1,100,000 elements, in one launch", hint="As many blocks as the elements need.")
def _(t):
    n = 1100770
    x, y = t.quarters(10007) * 110, t.quarters(10007) * 110
    reply = t.run(out_sizes=[n], out_strides=[1], x_sizes=[n], x_strides=[1], y_sizes=[n], y_strides=[1], op=Op2.mul,
                  memory=[0.0] * n, x=x, y=y)
    t.equal(reply["memory"], [a * b for a, b in zip(x, y)], "out")
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")


@hidden("3.3", of="operations", test="not finite", title="infinity and NaN, by every operation",
        hint="Let apply(op, x, y) compute each result.")
def _(t):
    for op, expected in OF_EXTREMES2.items():
        order = t.random.choices(range(6), k=120)
        t.equal(of_extremes(t, op, order)["memory"], [expected[i] for i in order], "out")


def of_extremes(t, op, order=range(6)):
    n = len(order)
    return t.run(out_sizes=[n], out_strides=[1], x_sizes=[n], x_strides=[1], y_sizes=[n], y_strides=[1], op=op,
                 memory=[0.0] * n, x=[EXTREMES2[0][i] for i in order], y=[EXTREMES2[1][i] for i in order])


@hidden("3.3", of="loads", test="loads of all operations", title="each operand is loaded once, by every operation",
        hint="Load each operand once, and store once, whatever the operation.")
def _(t):
    for op in OF_EXTREMES2:
        reply = of_extremes(t, op)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 12, "loads from global memory")
            t.at_most(reply.total("global_stores"), 6, "stores to global memory")


def turned(t, sizes):
    """Strides of these sizes in a random order of dimensions."""
    order, strides, step = t.random.sample(range(len(sizes)), len(sizes)), [0] * len(sizes), 1
    for d in order:
        strides[d], step = step, step * sizes[d]
    return strides


@hidden("3.3", of="contiguous", test="other contiguous tensors", title="random sizes, contiguous", hint="Find the position first, then a place in each operand.")
def _(t):
    for _ in range(5):
        sizes = [t.random.randint(1, 6) for _ in range(t.random.randint(1, 4))]
        strides = [math.prod(sizes[d + 1:]) for d in range(len(sizes))]
        public("3.3").added(t, sizes, strides, sizes, strides, sizes, strides)


@hidden("3.3", of="strides", test="random strides", title="random sizes, and dimensions in random orders", hint="x, y and out have strides of their own.")
def _(t):
    for _ in range(5):
        sizes = [t.random.randint(1, 6) for _ in range(t.random.randint(2, 4))]
        public("3.3").added(t, sizes, turned(t, sizes), sizes, turned(t, sizes), sizes, turned(t, sizes))


@hidden("3.3", of="gaps", test="random gaps", title="between out's elements lies memory of others, at random distances", hint="Write at out's own places, and nowhere else.")
def _(t):
    for _ in range(4):
        n, m, step = t.random.randint(1, 9), t.random.randint(1, 9), t.random.randint(1, 4)
        public("3.3").added(t, [n, m], [m * step + 2, step], [n, m], [m, 1], [n, m], [1, n])
        public("3.3").added(t, [n, m], *([m * step + 2, step], [n, m]) * 2, [m * step + 2, step])


@hidden("3.3", of="stride 0", test="random strides of 0", title="operands that repeat along random dimensions", hint="A stride of 0 needs no special case in the kernel.")
def _(t):
    for _ in range(5):
        n, m = t.random.randint(2, 30), t.random.randint(2, 30)
        x, y = (t.random.choice([[0, 1], [1, 0], [0, 0], [m, 1]]) for _ in range(2))
        public("3.3").added(t, [n, m], [m, 1], [n, m], x, [n, m], y)


@hidden("3.3", of="loads", test="loads of other sizes", title="2 n loads and n stores, of 40 x 128", hint="Load one element of x and one of y for each element of out.")
def _(t):
    n, rows = 40 * 128, [128, 1]
    reply = public("3.3").added(t, [40, 128], rows, [40, 128], rows, [40, 128], rows)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")
        t.at_most(reply.total("global_loads"), 2 * n, "loads from global memory")
        t.at_most(reply.total("global_stores"), n, "stores to global memory")
        t.at_most(reply.total("sectors"), 3 * n / 8, "sectors", reply.worst("sectors"))


@hidden("3.3", of="size 1", test="all ways to repeat", title="x and y have size 1 in each choice of dimensions", hint="Each dimension of each operand decides for itself.")
def _(t):
    def repeating(mask):
        own = [1 if mask >> d & 1 else size for d, size in enumerate(sizes)]
        return own, [5 if own[d] == 1 else math.prod(own[d + 1:]) for d in range(4)]

    sizes = [2, 3, 2, 3]
    for mask in range(16):
        other = repeating(t.random.randrange(16))
        public("3.3").added(t, sizes, [18, 6, 3, 1], *repeating(mask), *other)
        public("3.3").added(t, sizes, [18, 6, 3, 1], *other, *repeating(mask))


def row_major(sizes):
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


FUNCTIONS = {Op2.add: lambda a, b: a + b, Op2.sub: lambda a, b: a - b, Op2.mul: lambda a, b: a * b, Op2.div: lambda a, b: a / b, Op2.maximum: max}


@hidden("3.3", of="operations", test="operations bit for bit", title="each operation, of random numbers and small ones, bit for bit",
        hint="Let apply(op, x, y) compute each result: x times 1 / y is rounded twice.")
def _(t):
    n = 300
    for low in (1e-3, 1e-30):
        x, y = t.floats(n, low, 9 * low), t.floats(n, low, 9 * low)
        for op, f in FUNCTIONS.items():
            reply = t.run(out_sizes=[n], out_strides=[1], x_sizes=[n], x_strides=[1], y_sizes=[n], y_strides=[1], op=op, memory=[0.0] * n, x=x, y=y)
            t.equal(reply["memory"], list(array.array("f", map(f, x, y))), "out")


@hidden("3.3", of="strides", test="nearly contiguous", title="one of the three has the strides of a contiguous tensor in another order, with one gap, or with one stride of 0",
        hint="Every stride counts.")
def _(t):
    for sizes in ([2, 3, 2], [2, 3, 2, 3]):
        rows = row_major(sizes)
        for strides in nearly_contiguous(sizes):
            public("3.3").added(t, sizes, rows, sizes, strides, sizes, rows, Op2.sub)
            public("3.3").added(t, sizes, rows, sizes, rows, sizes, strides, Op2.sub)
            if 0 not in strides:
                public("3.3").added(t, sizes, strides, sizes, rows, sizes, rows, Op2.sub)


@hidden("3.3", of="contiguous", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        for sizes in ([64], [16, 8], [2, 3, 4, 4]):
            public("3.3").added(t, sizes, row_major(sizes), sizes, row_major(sizes), sizes, row_major(sizes), shift=shift)


@hidden("3.3", of="strides", test="strides of all operations", title="the three lie otherwise, by every operation, and out is x or y",
        hint="The position is the same, whatever the operation. out may be an operand of the same layout.")
def _(t):
    for op, f in FUNCTIONS.items():
        sizes = [t.random.randint(2, 5) for _ in range(3)]
        n = math.prod(sizes)
        for in_place in ({}, {"x_in_place": 1}, {"y_in_place": 1}):
            strides = [turned(t, sizes) for _ in range(3)]
            if in_place:
                strides[1 if "x_in_place" in in_place else 2] = strides[0]
            x, y, before = t.floats(n, 1, 2), t.floats(n, 1, 2), t.floats(n, 1, 2)
            left, right = before if "x_in_place" in in_place else x, before if "y_in_place" in in_place else y
            expected = [0.0] * n
            for p in positions(sizes):
                expected[place(p, strides[0])] = f(left[place(p, strides[1])], right[place(p, strides[2])])
            reply = t.run(out_sizes=sizes, out_strides=strides[0], x_sizes=sizes, x_strides=strides[1], y_sizes=sizes, y_strides=strides[2], op=op,
                          memory=before, x=x, y=y, **in_place)
            t.equal(reply["memory"], list(array.array("f", expected)), "memory of out")
