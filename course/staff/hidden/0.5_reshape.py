"""Hidden tests of task 0.5."""
import math

from judge.testing import hidden, place, positions


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
    t.equal(found["sizes"], [2 ** 30, 2 ** 4], "sizes")
    found = t.run(memory=4, sizes=[2 ** 33], strides=[0], offset=0, to=[2 ** 32, 2])
    t.equal(found["is_view"], [1], "whether it is a view")
    t.throws("half of the elements", "std::invalid_argument", memory=4, sizes=[2 ** 33], strides=[0], offset=0, to=[2 ** 32])
