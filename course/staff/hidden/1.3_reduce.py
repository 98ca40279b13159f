"""Hidden tests of task 1.3."""
from judge.testing import hidden, place, positions


@hidden("1.3", of="strides", test="random layouts", title="random sizes, strides and dimensions",
        hint="Both tensors have strides of their own, in every dimension.")
def _(t):
    for op, start, f in [(0, 3.0, lambda a, b: a + b), (1, 50.0, lambda a, b: a - b), (4, -9.0, max)] * 8:
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(1, 4))]
        dim = t.random.randrange(len(sizes))
        out_sizes = [1 if d == dim else size for d, size in enumerate(sizes)]
        strides, out_strides, step, out_step = [0] * len(sizes), [0] * len(sizes), 1, 1
        for d in t.random.sample(range(len(sizes)), len(sizes)):
            strides[d], out_strides[d] = step, out_step
            step, out_step = step * sizes[d] + t.random.randint(0, 2), out_step * out_sizes[d] + t.random.randint(0, 2)
        x = t.quarters(step)
        expected = [-999.5] * out_step
        for p in positions(sizes):
            at = place([0 if d == dim else i for d, i in enumerate(p)], out_strides)
            expected[at] = f(start if p[dim] == 0 else expected[at], x[place(p, strides)])
        found = t.run(op=op, start=start, dim=dim, x=x, x_sizes=sizes, x_strides=strides, out_sizes=out_sizes,
                      out_strides=out_strides, memory=[-999.5] * out_step)["memory"]
        t.equal(found, expected, "out's memory")


@hidden("1.3", of="last dimension", test="long rows", title="rows of 3,000 elements", hint="A sum is a float, however long it is.")
def _(t):
    x = t.quarters(4 * 3001)
    found = t.run(op=0, start=0.5, dim=1, x=x, x_sizes=[4, 3001], x_strides=[3001, 1], out_sizes=[4, 1], out_strides=[1, 1],
                  memory=[0.0] * 4)["memory"]
    t.equal(found, [0.5 + sum(x[r * 3001:r * 3001 + 3001]) for r in range(4)], "out")
