"""Hidden tests of task 0.5."""
import math

from judge.testing import hidden, place, positions, public


def factors(t, count):
    """Sizes whose product is count, ones among them."""
    sizes = []
    while count > 1:
        size = t.random.choice([each for each in range(1, count + 1) if count % each == 0])
        sizes.append(size)
        count //= size
    return sizes + [1] * t.random.randint(0, 1)


@hidden("0.5", of="copy needed", test="random views", title="random views: empty exactly where no strides do",
        hint="Neighbouring dimensions are one run where the outer stride is the inner stride times the inner size.")
def _(t):
    for _ in range(150):
        count = t.random.choice([1, 4, 6, 8, 12, 16, 24])
        sizes, to = factors(t, count), factors(t, count)
        strides, step = [0] * len(sizes), t.random.choice([0, 1, 1, 2])
        for d in reversed(range(len(sizes))):
            strides[d] = step if sizes[d] != 1 else t.random.randint(0, 99)
            step *= sizes[d]
            if t.random.random() < 0.3:
                step += t.random.randint(1, 3)
        order = list(range(len(sizes)))
        if t.random.random() < 0.3:
            t.random.shuffle(order)
        sizes, strides = [sizes[d] for d in order], [strides[d] for d in order]
        places = [place(p, strides) for p in positions(sizes)]
        # The only strides that could do: the distance of the first two elements along each dimension.
        possible = [places[math.prod(to[d + 1:])] - places[0] if size > 1 else 0 for d, size in enumerate(to)]
        expected = [place(p, possible) for p in positions(to)] == places
        found = t.run(memory=max(places) + 1, sizes=sizes, strides=strides, offset=0, to=to)
        t.check(found["is_view"] == [int(expected)], "found no view, though there is one" if expected else
                f"found a view with strides {found.get('strides')}; no strides show x in its order")
        if expected:
            t.equal(found["sizes"], to, "sizes")
            t.check(found["same_data"] == [1], "the result's data is another pointer than x's")
            t.equal([place(p, found["strides"], found["offset"][0]) for p in positions(to)], places, "places of the elements")


@hidden("0.5", of="minus one", test="random -1", title="one random size is -1",
        hint="The size is the number of elements divided by the other sizes.")
def _(t):
    for _ in range(20):
        count = t.random.choice([6, 12, 24, 36])
        expected = factors(t, count) or [1]
        to = list(expected)
        to[t.random.randrange(len(to))] = -1
        t.equal(t.run(memory=count, sizes=[count], strides=[1], offset=0, to=to)["sizes"], expected, "sizes")


@hidden("0.5", of="minus one", test="huge views", title="more elements than an int can count, in little memory",
        hint="Count elements as long.")
def _(t):
    found = t.begins(may_end=True, memory=4, sizes=[2 ** 20, 2 ** 14], strides=[0, 0], offset=0, to=[-1, 2 ** 4])
    if not found:  # it goes through all elements: that is right, and takes a minute
        return
    t.equal(found["is_view"], [1], "whether it is a view")
    t.equal(found["sizes"], [2 ** 30, 2 ** 4], "sizes")
    found = t.run(memory=4, sizes=[2 ** 33], strides=[0], offset=0, to=[2 ** 32, 2])
    t.equal(found["is_view"], [1], "whether it is a view")
    t.throws("half of the elements", "std::invalid_argument", memory=4, sizes=[2 ** 33], strides=[0], offset=0, to=[2 ** 32])


def contiguous(sizes):
    return [math.prod(sizes[d + 1:]) for d in range(len(sizes))]


@hidden("0.5", of="contiguous", test="random shapes", title="random shapes of contiguous tensors", hint="Work from the last dimension to the first.")
def _(t):
    for _ in range(15):
        count = t.random.choice([6, 12, 24, 36, 60])
        sizes = factors(t, count)
        public("0.5").reshapes(t, sizes, contiguous(sizes), factors(t, count), offset=t.random.randint(0, 9))
    for sizes, to in (([2] * 7, [128]), ([128], [2] * 7), ([1] * 66 + [3, 2], [2] + [1] * 66 + [3])):  # nothing limits the number of dimensions
        public("0.5").reshapes(t, sizes, contiguous(sizes), to)
    public("0.5").reshapes(t, [2] * 12, [step for each in range(6) for step in (2 ** each, 0)], [2, 1] * 12)  # 12 runs


@hidden("0.5", of="size one", test="ones anywhere", title="ones at random places, with any stride", hint="Strides of size 1 say nothing about x.")
def _(t):
    def with_ones(sizes):
        out = list(sizes)
        for _ in range(t.random.randint(1, 3)):
            out.insert(t.random.randint(0, len(out)), 1)
        return out
    for _ in range(15):
        base = [t.random.randint(2, 4) for _ in range(t.random.randint(0, 3))]
        sizes, to = with_ones(base), with_ones(base)
        strides = [stride if size != 1 else t.random.randint(0, 99) for size, stride in zip(sizes, contiguous(sizes))]
        public("0.5").reshapes(t, sizes, strides, to)


@hidden("0.5", of="strided", test="random runs", title="two random runs, each divided anew", hint="A dimension of the result lies within a run.")
def _(t):
    for _ in range(15):
        counts, steps = [t.random.choice([4, 6, 8]) for _ in range(2)], [t.random.choice([1, 20]), 3]
        sizes, strides, to = [], [], []
        for count, step in zip(counts, steps):
            part = factors(t, count)
            sizes += part
            strides += [step * each for each in contiguous(part)]
            to += factors(t, count)
        public("0.5").reshapes(t, sizes, strides, to)


@hidden("0.5", of="expanded", test="random expanded", title="random dimensions with stride 0", hint="Stride 0 is a stride like any other.")
def _(t):
    for _ in range(10):
        first, second = t.random.choice([4, 6, 8]), t.random.choice([4, 6, 8])
        public("0.5").reshapes(t, [first, second], [0, 1], factors(t, first) + factors(t, second))
        public("0.5").needs_copy(t, [first, second], t.random.choice([[0, 1], [1, 0]]), [first * second])


@hidden("0.5", of="no elements", test="zeros anywhere", title="sizes of 0 at random places", hint="Without elements any strides are right.")
def _(t):
    for _ in range(10):
        sizes, to = ([t.random.randint(0, 4) for _ in range(3)] for _ in range(2))
        sizes[t.random.randrange(3)] = to[t.random.randrange(3)] = 0
        public("0.5").reshapes(t, sizes, t.random.sample(range(9), 3), to)


@hidden("0.5", of="refused", test="refused anywhere", title="random sizes that do not fit", hint="Compare the number of elements.")
def _(t):
    for _ in range(10):
        count, other = t.random.randint(2, 40), t.random.randint(41, 80)
        for to in ([other], [count, 2], [-1, -1, count], [-1, count + 1], [-2, -count], [0, -1], [count + 1, 0]):
            t.throws(f"{count} elements as {to}", "std::invalid_argument", memory=256, sizes=[count], strides=[1], offset=0, to=to)
        for sizes, to in (([0, count], [-1, 0]), ([count, 0], [other, -1, 0, 2]), ([0], [count])):
            t.throws(f"no elements as {to}", "std::invalid_argument", memory=256, sizes=sizes, strides=[1] * len(sizes), offset=0, to=to)


@hidden("0.5", of="refused", test="refused views", title="random views that are no run, as sizes that do not fit", hint="Compare the number of elements before you look for strides.")
def _(t):
    for _ in range(10):
        rows, columns = t.random.randint(2, 6), t.random.randint(2, 6)
        strides = t.random.choice([[columns + 3, 1], [1, rows], [0, 1], [1, 0]])
        for to in ([rows], [columns, rows, 2], [rows * columns - 1], [rows * columns + 1], [-1, rows * columns + 1], [rows, 0], [-1, 0]):
            t.throws(f"{rows} x {columns} elements as {to}", "std::invalid_argument", memory=256, sizes=[rows, columns], strides=strides, offset=0, to=to)


@hidden("0.5", of="refused", test="products of 64 bits", title="sizes whose product no long holds", hint="A product of sizes may be more than 64 bits hold: what is left of it may be right by chance.")
def _(t):
    for count, to in ((0, [2 ** 32, 2 ** 32]), (0, [2 ** 62, 4]), (0, [2 ** 21] * 4), (4, [2 ** 62, 4]), (12, [2 ** 32, 2 ** 32, 12]), (12, [-1, 2 ** 32, 2 ** 32])):
        t.throws(f"{count} elements as {to}", "std::invalid_argument", memory=256, sizes=[count], strides=[1], offset=0, to=to)
    for count in range(1, 60):  # n sizes of which one factor makes count, modulo 2^64
        factor = t.random.choice([3, 5, 7, 11, 13])
        other = count * pow(factor, -1, 2 ** 64) % 2 ** 64
        if other < 2 ** 63 and factor * other != count:
            for to in ([factor, other], [other, factor, 1]):
                t.throws(f"{count} elements as {to}", "std::invalid_argument", memory=256, sizes=[count], strides=[1], offset=0, to=to)
