"""Hidden tests of task 0.4."""
from judge.testing import hidden, place, positions


def view(t, function, x, **more):
    return t.run(function=function, memory=4096, **x, **more)


def made(t):
    rank = t.random.randint(1, 4)
    return dict(sizes=[t.random.randint(1, 5) for _ in range(rank)], strides=[t.random.randint(0, 60) for _ in range(rank)],
                offset=t.random.randint(0, 99))


def shows(t, found, sizes, source):
    t.equal(found["sizes"], sizes, "sizes")
    for p in positions(sizes):
        t.equal(found["memory"][place(p, found["strides"], found["offset"][0])], float(source(p)), f"element at position {p}")


@hidden("0.4", of="permute", test="random orders", title="random views in random orders",
        hint="Dimension i of the result has the size and the stride of dimension order[i] of x.")
def _(t):
    for _ in range(20):
        x = made(t)
        order = list(range(len(x["sizes"])))
        t.random.shuffle(order)
        shows(t, view(t, "permute", x, order=order), [x["sizes"][d] for d in order],
              lambda p: place([p[order.index(d)] for d in range(len(p))], x["strides"], x["offset"]))


@hidden("0.4", of="of a view", test="random parts", title="random parts of random views",
        hint="Only one size changes, and the place of the first element.")
def _(t):
    for _ in range(20):
        x = made(t)
        dim = t.random.randrange(len(x["sizes"]))
        start = t.random.randint(0, x["sizes"][dim])
        length = t.random.randint(0, x["sizes"][dim] - start)
        sizes = [length if d == dim else size for d, size in enumerate(x["sizes"])]
        shows(t, view(t, "narrow", x, dim=dim, start=start, length=length), sizes,
              lambda p: place([i + start * (d == dim) for d, i in enumerate(p)], x["strides"], x["offset"]))


@hidden("0.4", of="new dimensions", test="random expansions", title="random views, expanded",
        hint="All indices along a repeated dimension must lead to the same element.")
def _(t):
    for _ in range(20):
        x = made(t)
        front = [t.random.randint(0, 3) for _ in range(t.random.randint(0, 2))]
        to = front + [t.random.randint(0, 4) if size == 1 else size for size in x["sizes"]]
        shows(t, view(t, "expand", x, to=to), to,
              lambda p: place([i if size != 1 else 0 for i, size in zip(p[len(front):], x["sizes"])], x["strides"], x["offset"]))


@hidden("0.4", of="of a view", test="huge views", title="places beyond 32 bits", hint="offset, start and strides are long: so are their products.")
def _(t):
    found = view(t, "narrow", dict(sizes=[2 ** 34], strides=[3], offset=5), dim=0, start=2 ** 33, length=2)
    t.equal(found["offset"], [5 + 3 * 2 ** 33], "offset")
    found = view(t, "narrow", dict(sizes=[4, 2 ** 32 + 9], strides=[2 ** 32 + 9, 1], offset=0), dim=0, start=3, length=1)
    t.equal(found["offset"], [3 * (2 ** 32 + 9)], "offset")
    found = view(t, "expand", dict(sizes=[1], strides=[1], offset=3), to=[2 ** 33, 2 ** 32])
    t.equal((found["sizes"], found["strides"]), ([2 ** 33, 2 ** 32], [0, 0]), "sizes and strides")


@hidden("0.4", of="permute", test="many dimensions", title="a dozen dimensions", hint="Nothing limits the number of dimensions.")
def _(t):
    found = view(t, "permute", dict(sizes=[1] * 11 + [2], strides=list(range(12)), offset=0), order=list(range(11, -1, -1)))
    t.equal((found["sizes"], found["strides"]), ([2] + [1] * 11, list(range(11, -1, -1))), "sizes and strides")
