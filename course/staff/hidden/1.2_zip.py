"""Hidden tests of task 1.2."""
from judge.testing import hidden, place, positions


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
    for _ in range(20):
        sizes = [t.random.randint(1, 5) for _ in range(t.random.randint(0, 4))]
        x_sizes, y_sizes = ([t.random.choice([1, size]) for size in sizes] for _ in range(2))
        (out_strides, count), (x_strides, x_count), (y_strides, y_count) = (strides_for(t, each) for each in (sizes, x_sizes, y_sizes))
        x, y = t.whole(x_count), t.whole(y_count)
        expected = [-999.5] * count
        for p in positions(sizes):
            x_at, y_at = (place([i % size for i, size in zip(p, s)], strides) for s, strides in ((x_sizes, x_strides), (y_sizes, y_strides)))
            expected[place(p, out_strides)] = x[x_at] - y[y_at]
        found = t.run(op=1, out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, y_sizes=y_sizes,
                      y_strides=y_strides, x=x, y=y, memory=[-999.5] * count)["memory"]
        t.equal(found, expected, "out's memory")
