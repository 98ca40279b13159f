"""Hidden tests of task 0.4."""
import math

from judge.testing import hidden, place, positions, public

MOST = 2 ** 63 - 1  # the largest long


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


@hidden("0.4", of="permute", test="many dimensions", title="12 and 70 dimensions", hint="Nothing limits the number of dimensions.")
def _(t):
    for rank in (12, 70):
        x, backwards = dict(sizes=[1] * (rank - 1) + [2], strides=list(range(rank)), offset=0), list(range(rank - 1, -1, -1))
        found = view(t, "permute", x, order=backwards)
        t.equal((found["sizes"], found["strides"]), ([2] + [1] * (rank - 1), backwards), "sizes and strides")
        t.throws(f"permute of {rank} dimensions by an order that has the last one twice", "std::invalid_argument", function="permute", memory=4096, **x,
                 order=[rank - 1, *range(1, rank)])
        found = view(t, "narrow", x, dim=rank - 1, start=1, length=1)
        t.equal((found["sizes"], found["strides"], found["offset"]), ([1] * rank, x["strides"], [rank - 1]), "sizes, strides and offset")
        found = view(t, "expand", dict(x, strides=[7] * rank), to=[3, *[1] * (rank - 2), 4, 2])
        t.equal(found["sizes"], [3, *[1] * (rank - 2), 4, 2], "sizes")
        t.equal([found["strides"][d] for d in (0, rank - 1, rank)], [0, 0, 7], "strides of the dimensions of size 3, 4 and 2")


@hidden("0.4", of="narrow", test="parts of contiguous views", title="random parts of contiguous views", hint="Only one size changes, and the place of the first element.")
def _(t):
    for _ in range(12):
        sizes = [t.random.randint(1, 6) for _ in range(t.random.randint(1, 4))]
        x = dict(sizes=sizes, strides=[math.prod(sizes[d + 1:]) for d in range(len(sizes))], offset=0)
        dim = t.random.randrange(len(sizes))
        length = t.random.randint(0, sizes[dim])
        start = t.random.randint(0, sizes[dim] - length)
        shows(t, view(t, "narrow", x, dim=dim, start=start, length=length), [length if d == dim else size for d, size in enumerate(sizes)],
              lambda p: place([i + start * (d == dim) for d, i in enumerate(p)], x["strides"]))


@hidden("0.4", of="expand", test="random expansions", title="random sizes of 1 become longer", hint="All indices along a repeated dimension lead to the same element.")
def _(t):
    for _ in range(12):
        x = made(t)
        x["sizes"] = [t.random.choice([1, size]) for size in x["sizes"]]
        to = [t.random.randint(0, 5) if size == 1 else size for size in x["sizes"]]
        shows(t, view(t, "expand", x, to=to), to, lambda p: place([i if size != 1 else 0 for i, size in zip(p, x["sizes"])], x["strides"], x["offset"]))


@hidden("0.4", of="refused", test="refused anywhere", title="arguments of random views that make no sense", hint="The header says for each function when it throws.")
def _(t):
    for _ in range(10):
        x = made(t)
        rank, sizes = len(x["sizes"]), x["sizes"]
        dim, order = t.random.randrange(rank), list(range(rank))
        order[dim] = t.random.choice([-1, rank, rank + 3])
        size = sizes[dim]
        twice = t.random.choices(range(rank), k=rank)
        twice[dim] = twice[dim - 1] if rank > 1 else 1
        wrong = [("permute", dict(order=twice)), ("permute", dict(order=[rank // 2] * (rank - 1) + [rank // 2 or 1])), ("permute", dict(order=order)), ("permute", dict(order=list(range(rank)) + [0])), ("narrow", dict(dim=rank + t.random.randint(0, 3), start=0, length=0)),
                 ("narrow", dict(dim=dim, start=t.random.randint(-9, -1), length=1)), ("narrow", dict(dim=dim, start=0, length=size + t.random.randint(1, 9))),
                 ("narrow", dict(dim=dim, start=size, length=1)), ("expand", dict(to=sizes[1:]))]
        # More than 32 bits hold, and sums and differences that 64 bits do not.
        wrong += [("narrow", dict(dim=dim + t.random.choice([2 ** 32, -2 ** 32]), start=0, length=0)), ("permute", dict(order=[2 ** 32, *range(1, rank)])),
                  *(("narrow", dict(dim=dim, start=start, length=length)) for start, length in
                    ((1, MOST), (MOST, 1), (MOST, MOST), (-MOST - 1, 1), (1, -MOST - 1), (-MOST - 1, MOST), (2 ** 32, 0), (0, 2 ** 32)))]
        if size > 1:
            wrong.append(("expand", dict(to=[2, *sizes[:dim], size + 1, *sizes[dim + 1:]])))
        if size != 1:
            wrong.append(("expand", dict(to=[*sizes[:dim], 2 ** 32 + size, *sizes[dim + 1:]])))
            wrong.append(("expand", dict(to=[*sizes[:dim], 0, *sizes[dim + 1:]])))
        for function, more in wrong:
            t.throws(f"{function} with {more}", "std::invalid_argument", function=function, memory=4096, **x, **more)
        empty = dict(x, sizes=[*sizes[:dim], 0, *sizes[dim + 1:]])
        for size in (1, t.random.randint(2, 9)):
            t.throws(f"expand of size 0 to {size}", "std::invalid_argument", function="expand", memory=4096, **empty,
                     to=[3, *sizes[:dim], size, *sizes[dim + 1:]])


@hidden("0.4", of="no copy", test="no copy of others", title="random views share the memory of x", hint="A view has the same data pointer.")
def _(t):
    for _ in range(6):
        x = made(t)
        rank = len(x["sizes"])
        for function, more in [("permute", dict(order=list(range(rank))[::-1])), ("narrow", dict(dim=0, start=0, length=1)), ("expand", dict(to=[3, *x["sizes"]]))]:
            public("0.4").shares(t, function, x, **more)
        x["sizes"] = [size + 1 for size in x["sizes"]]
        public("0.4").shares(t, "narrow", x, dim=t.random.randrange(rank), start=1, length=1)
