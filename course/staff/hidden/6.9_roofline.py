"""Hidden tests of task 6.9."""
from judge.testing import hidden, public


@hidden("6.9", of="axpy", test="other axpys", title="the work of axpy for random sizes", hint="The last sector moves as a whole.")
def _(t):
    for n in (7, 15, 16, 128, 129, 5000, t.random.randint(100, 9000)):
        public("6.9").work(t, 2 * n, n=n)


@hidden("6.9", of="rows", test="other rows", title="the work of sums of other rows", hint="Each load of a thread touches a sector of its own.")
def _(t):
    for rows, columns in ((7, 9), (64, 33), (300, 16), (9, 250), (t.random.randint(1, 150), t.random.randint(8, 60))):
        public("6.9").work(t, rows * columns, rows=rows, columns=columns)


@hidden("6.9", of="product", test="other products", title="the work of other products", hint="Each number of a is loaded once for each tile of columns.")
def _(t):
    for m, n, k, side in ((24, 40, 16, 8), (48, 16, 96, 16), (64, 96, 32, 32), (32, 96, 64, 8)):
        public("6.9").work(t, 2 * m * n * k, m=m, n=n, k=k, tile=side)


@hidden("6.9", of="large", test="other large sizes", title="bytes and operations of large sizes", hint="Multiply as doubles, or as longs.")
def _(t):
    for sizes, operations, moves in ((dict(m=16384, n=4096, k=65536, tile=32), 2 ** 43, 2 ** 40 + 2 ** 28), (dict(rows=70000, columns=80000), 5600000000, 179200280000),
                                     (dict(n=5 * 10 ** 9), 10 ** 10, 6 * 10 ** 10)):
        t.equal(public("6.9").work(t, operations, runs=0, **sizes)["bytes"], [moves], "bytes")


@hidden("6.9", of="bounds", test="other bounds", title="bounds on other chips", hint="The longer of both times counts.")
def _(t):
    for _ in range(6):
        operations, moves = t.random.randint(1, 9999), t.random.randint(1, 9999)
        chip = t.random.randint(1, 99) * 10 ** 6, t.random.randint(1, 99) * 10 ** 6
        computing, moving = 1e6 * operations / chip[0], 1e6 * moves / chip[1]
        public("6.9").bound(t, [operations, moves], chip, max(computing, moving), int(operations * chip[1] < moves * chip[0]))
    public("6.9").bound(t, [3 * 10 ** 6, 10 ** 6], (6 * 10 ** 9, 2 * 10 ** 9), 500.0, 0)


@hidden("6.9", of="tile", test="other tiles", title="the least tile on other chips", hint="A tile of t has t / 4 operations for each byte.")
def _(t):
    for operations, moves, expected in ((6, 2, 16), (4, 2, 8), (20, 10, 8), (21, 10, 16), (40, 10, 16), (41, 10, 24), (1000, 10, 400), (1001, 10, 408), (989, 3, 1320), (10 ** 6, 1, 4 * 10 ** 6)):
        public("6.9").tile(t, (operations * 10 ** 9, moves * 10 ** 9), expected)


@hidden("6.9", of="fused", test="other fused", title="two axpys of other sizes", hint="Load u[i], v[i] and y[i], and store y[i].")
def _(t):
    for n in (8, 129, 1000, t.random.randint(2000, 5000)):
        reply = public("6.9").axpy_two(t, n)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(public("6.9").moved(reply), 4 * 32 * ((n + 7) // 8), "bytes moved", reply.worst("sectors"))
    n = 300001
    t.equal(t.run(y=[1.0] * n, u=[2.0] * n, v=[0.5] * n, factors=[3.0, -4.0])["y"], [5.0] * n, "y")


@hidden("6.9", of="together", test="other rows together", title="sums of other rows by whole sectors", hint="Let a warp add up one row.")
def _(t):
    for rows, columns in ((2, 16), (64, 40), (7, 1000), (2, 8200), (5000, 8), (t.random.randint(5, 70), 8 * t.random.randint(1, 20))):
        reply = public("6.9").sum_rows(t, rows, columns)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(public("6.9").moved(reply), 4 * rows * columns + 32 * rows, "bytes moved", reply.worst("sectors"))
