"""Hidden tests of task 1.3."""
import array
import math

from judge.testing import FAR, Op2, hidden, place, positions, public


@hidden("1.3", of="strides", test="random layouts", title="random sizes, strides and dimensions",
        hint="Both tensors have strides of their own, in every dimension.")
def _(t):
    for op, f in [*public("1.3").FUNCTIONS.items()] * 6:
        start = public("1.3").STARTS[op]
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(1, 4))]
        dim = t.random.randrange(len(sizes))
        out_sizes = [1 if d == dim else size for d, size in enumerate(sizes)]
        strides, out_strides, step, out_step = [0] * len(sizes), [0] * len(sizes), 1, 1
        for d in t.random.sample(range(len(sizes)), len(sizes)):
            strides[d], out_strides[d] = step, out_step
            step, out_step = step * sizes[d] + t.random.randint(0, 2), out_step * out_sizes[d] + t.random.randint(0, 2)
        x = [value or 0.5 for value in t.quarters(step)]
        expected = [-999.5] * out_step
        for p in positions(sizes):
            at = place([0 if d == dim else i for d, i in enumerate(p)], out_strides)
            expected[at] = f(start if p[dim] == 0 else expected[at], x[place(p, strides)])
        found = t.run(op=op, start=start, dim=dim, x=x, x_sizes=sizes, x_strides=strides, out_sizes=out_sizes,
                      out_strides=out_strides, memory=[-999.5] * out_step)["memory"]
        t.equal(found, expected, "out's memory")


@hidden("1.3", of="each dimension", test="each operation", title="each operation along each dimension, and with one stride that is not a contiguous tensor's", hint="The elements that belong together lie x's stride of dim apart, whatever the operation is.")
def _(t):
    sizes = [2, 3, 2, 3]
    contiguous = public("1.3").row_major(sizes)
    layouts = [contiguous, contiguous[::-1], [18, 3, 9, 1], [18, 6, 1, 2], [9, 3, 1, 18]]
    layouts += [[0 if d == at else stride for d, stride in enumerate(contiguous)] for at in range(4)]
    for op, f in public("1.3").FUNCTIONS.items():
        for dim in range(4):
            for strides in layouts:
                x = [t.random.choice([0.5, 1.0, 2.0, -1.0, -4.0]) for _ in range(1 + place([size - 1 for size in sizes], strides))]
                out_sizes = [1 if d == dim else size for d, size in enumerate(sizes)]
                out_strides = public("1.3").row_major(out_sizes)
                expected = {}
                for p in positions(sizes):
                    at = place([0 if d == dim else i for d, i in enumerate(p)], out_strides)
                    expected[at] = f(expected.get(at, public("1.3").STARTS[op]), x[place(p, strides)])
                found = public("1.3").reduces(t, sizes, dim, x, op=op, start=public("1.3").STARTS[op], strides=strides)
                t.equal(found[:len(expected)], [expected[at] for at in sorted(expected)], f"{op} along dimension {dim}")


@hidden("1.3", of="last dimension", test="long rows", title="rows of 3,000 elements", hint="A sum is a float, however long it is.")
def _(t):
    x = t.quarters(4 * 3001)
    found = t.run(op=Op2.add, start=0.5, dim=1, x=x, x_sizes=[4, 3001], x_strides=[3001, 1], out_sizes=[4, 1], out_strides=[1, 1],
                  memory=[0.0] * 4)["memory"]
    t.equal(found, [0.5 + sum(x[r * 3001:r * 3001 + 3001]) for r in range(4)], "out")


@hidden("1.3", of="order", test="order of many", title="sums of 60 fractions, to the last bit",
        hint="Add the elements one after the other, to one float.")
def _(t):
    for sizes, dim in [([60, 3], 0), ([3, 61], 1)]:
        x = t.floats(math.prod(sizes))
        step, apart = (sizes[1], 1) if dim == 0 else (1, sizes[1])
        sums = array.array("f", [0.125] * 3)
        for row in range(3):
            for j in range(sizes[dim]):
                sums[row] += x[row * apart + j * step]
        out_sizes = [1 if d == dim else 3 for d in range(2)]
        found = t.run(op=Op2.add, start=0.125, dim=dim, x=x, x_sizes=sizes, x_strides=[sizes[1], 1], out_sizes=out_sizes,
                      out_strides=[1, 1], memory=[0.0] * 3)["memory"]
        t.equal(found, list(sums), "out")


@hidden("1.3", of="order", test="order of each operation", title="each operation on many numbers, whose order shows", hint="op(op(start, x_0), x_1): one step after the other, each rounded to a float.")
def _(t):
    for count in (7, 33, 300, 5003):
        near_1 = t.floats(count, 0.9, 1.1)
        # Their product, or that of some of them, is infinite or 0 in float32; with start and in order nothing is.
        huge = [1e18 if i % 2 else t.random.choice([1e-18, 1e-17]) for i in range(6)] + near_1
        for op, x, start in [(Op2.add, near_1, 16777216.0), (Op2.sub, near_1, 16777216.0), (Op2.sub, near_1, -1000.25), (Op2.mul, near_1, 1e-3), (Op2.div, near_1, 1e3), (Op2.mul, [1e19] * 3, 1e-30),
                             (Op2.div, [1e19] * 3, 1e30), (Op2.div, huge, 0.125), (Op2.mul, huge, 0.125)]:
            start = public("1.3").rounded(start)
            expected = start
            for value in array.array("f", x):
                expected = public("1.3").FUNCTIONS[op](expected, value)
            t.equal(public("1.3").reduces(t, [len(x)], 0, x, op=op, start=start)[:1], [expected], "out, to the last bit")


@hidden("1.3", of="negative", test="negative rows", title="maxima of random negative numbers", hint="A maximum begins with start, which is -infinity.")
def _(t):
    x = t.floats(7 * 9, -1e30, -1e20) + t.quarters(9, -8, -1)
    found = t.run(op=Op2.maximum, start=-math.inf, dim=1, x=x, x_sizes=[8, 9], x_strides=[9, 1], out_sizes=[8, 1], out_strides=[1, 1], memory=[0.0] * 8)["memory"]
    t.equal(found, [max(x[r * 9:r * 9 + 9]) for r in range(8)], "out")
    for op, start in [(Op2.mul, 3.0), (Op2.maximum, -5.0), (Op2.maximum, -math.inf)]:
        t.equal(public("1.3").reduces(t, [4], 0, t.random.sample([0.0, -2.0, -4.0, -0.5], 4), op=op, start=start)[:1], [0.0], "out")


@hidden("1.3", of="not finite", test="not finite elsewhere", title="infinity and NaN at random places", hint="Let apply(op, so far, next) compute each step.")
def _(t):
    for _ in range(6):
        for op, f in public("1.3").FUNCTIONS.items():
            choice = [math.nan, math.inf, -math.inf, 1.0, -2.0] + [0.0] * (op != Op2.div)  # Python refuses to divide by 0
            x = [t.random.choice(choice) for _ in range(20)]
            expected = [public("1.3").STARTS[op]] * 5
            for i, value in enumerate(x):
                expected[i % 5] = f(expected[i % 5], value)
            found = t.run(op=op, start=public("1.3").STARTS[op], dim=0, x=x, x_sizes=[4, 5], x_strides=[5, 1], out_sizes=[1, 5], out_strides=[1, 1], memory=[0.0] * 5)["memory"]
            t.equal(found, expected, "out")


@hidden("1.3", of="each dimension", test="many rows", title="5,003 rows", hint="Nothing limits the number of sums.")
def _(t):
    x = t.quarters(2 * 5003)
    found = t.run(op=Op2.add, start=0.0, dim=0, x=x, x_sizes=[2, 5003], x_strides=[5003, 1], out_sizes=[1, 5003], out_strides=[1, 1],
                  memory=[0.0] * 5003)["memory"]
    t.equal(found, [a + b for a, b in zip(x, x[5003:])], "out")


@hidden("1.3", of="strides", test="far apart", title="rows that lie 2^32 elements apart", hint="Strides and places are long.")
def _(t):
    x = t.quarters(6)
    for dim, sizes, expected in [(1, [2, 1], [sum(x[:3]), sum(x[3:])]), (0, [1, 2], [x[0] + x[3], x[1] + x[4]])]:
        found = t.run(op=Op2.add, start=0.0, dim=dim, x=x, x_sizes=[2, 2 + dim], x_strides=[FAR, 1], out_sizes=sizes,
                      out_strides=[FAR if dim else 7, FAR], memory=[0.0] * 2, apart=FAR)["memory"]
        t.equal(found, expected, f"the sums along dimension {dim}")


@hidden("1.3", of="stale out", test="stale out of others", title="out held random numbers before", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in (t.random.uniform(-99, 99), math.inf, math.nan):
        for _ in range(3):
            rows, n = t.random.randint(1, 9), t.random.randint(1, 30)
            public("1.3").sums(t, [rows, n], 1, [sum(range(r * n, r * n + n)) for r in range(rows)], before=before)


@hidden("1.3", of="gaps", test="random gaps", title="what lies behind and between the elements of out stays", hint="Out has one element for each row of x along dim.")
def _(t):
    for _ in range(6):
        rows, n, step = t.random.randint(1, 9), t.random.randint(1, 9), t.random.randint(1, 4)
        found = public("1.3").reduces(t, [rows, n], 1, [1.0] * (rows * n), out_strides=[step, 1], before=public("1.3").POISON)
        t.check(all(value == public("1.3").POISON for at, value in enumerate(found) if at % step or at >= rows * step), "memory that is none of out's elements was written")


@hidden("1.3", of="no elements", test="zeros anywhere", title="random sizes beside a dimension of size 0", hint="The sum of no elements is what the result begins with.")
def _(t):
    for _ in range(5):
        rows, start = t.random.randint(1, 9), t.floats(1)[0]
        for op in Op2:
            t.equal(public("1.3").reduces(t, [rows, 0], 1, [], op=op, start=start)[:rows], [start] * rows, "out")
        t.equal(public("1.3").reduces(t, [0, rows], 0, [], start=start)[:rows], [start] * rows, "out")
