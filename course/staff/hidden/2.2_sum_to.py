"""Hidden tests of task 2.2."""
import math

from judge.testing import hidden, positions, public


@hidden("2.2", of="inner product", test="many sizes", title="up to 6 dimensions, all ways to broadcast",
        hint="Nothing limits the number of dimensions.")
def _(t):
    for rank in (2, 4, 6):
        for added in range(rank + 1):
            x_sizes = [t.random.randint(1, 4) for _ in range(rank)]
            sizes = [t.random.choice([1, size]) for size in x_sizes[added:]]
            x = t.quarters(math.prod(x_sizes))
            sums = {tuple(p): 0.0 for p in positions(sizes)}
            for p, value in zip(positions(x_sizes), x):
                sums[tuple(min(i, size - 1) for i, size in zip(p[added:], sizes))] += value
            reply = t.run(**{"x": x, "x sizes": x_sizes, "sizes": sizes, "offset": 0})
            t.equal(reply["sum sizes"], sizes, "sizes of the result")
            t.equal(reply["sum"], [sums[tuple(p)] for p in positions(sizes)], "sum")
    x_sizes = [2, 3, 2, 2, 3, 2]
    for d in range(6):
        summed(t, x_sizes, [1 if i == d else size for i, size in enumerate(x_sizes)])
        summed(t, x_sizes, [size if i == d else 1 for i, size in enumerate(x_sizes)])
    summed(t, [2, 2, 1, 2, 3], [2, 1, 1, 1, 1])


@hidden("2.2", of="new dimensions", test="many elements", title="20,000 elements, dimensions of 5,003, and few calls of write()",
        hint="write() says that somebody changed the memory: call it once, and keep the pointer.")
def _(t):
    x = t.quarters(200 * 100)
    reply = t.run(**{"x": x, "x sizes": [200, 100], "sizes": [100], "offset": 0})
    t.equal(reply["sum"], [sum(x[j::100]) for j in range(100)], "sum")
    t.at_most(reply["writes"][0], 10, "calls of write() of the result")
    for x_sizes, sizes in [([2, 5003], [5003]), ([3, 5003], [1, 5003]), ([5003, 2], [5003, 1]), ([5003, 2], [2]), ([2, 5003, 1], [5003, 1])]:
        summed(t, x_sizes, sizes)


def summed(t, x_sizes, sizes, not_finite=()):
    """Compares the sum of random numbers; sizes are those of x or 1, counted from the right. The first elements are those of not_finite."""
    x, added = [*not_finite, *t.quarters(math.prod(x_sizes))][:math.prod(x_sizes)], len(x_sizes) - len(sizes)
    sums = {tuple(p): 0.0 for p in positions(sizes)}
    for p, value in zip(positions(x_sizes), x):
        sums[tuple(min(i, size - 1) for i, size in zip(p[added:], sizes))] += value
    reply = public("2.2").sum_to(t, x, x_sizes, sizes, offset=t.random.randint(0, 9))
    expected = [sums[tuple(p)] for p in positions(sizes)]
    # A sum that keeps what rounding takes makes NaN of infinity.
    t.equal(reply["sum"], [a if math.isinf(b) and math.isnan(a) else b for a, b in zip(reply["sum"], expected)], "sum")
    return reply


@hidden("2.2", of="size one", test="ones anywhere", title="random dimensions had size 1", hint="A dimension of size 1 was repeated; it stays in the result.")
def _(t):
    for rank in range(1, 6):
        x_sizes = [t.random.randint(2, 5) for _ in range(rank)]
        sizes = [t.random.choice([1, size]) for size in x_sizes]
        sizes[t.random.randrange(rank)] = 1
        summed(t, x_sizes, sizes)


@hidden("2.2", of="both", test="both anywhere", title="random new dimensions, and dimensions of size 1", hint="Find for each element of x which element of the result it was copied from.")
def _(t):
    for rank in range(2, 6):
        x_sizes = [t.random.randint(2, 5) for _ in range(rank)]
        sizes = [t.random.choice([1, size]) for size in x_sizes[t.random.randint(1, rank - 1):]]
        sizes[t.random.randrange(len(sizes))] = 1
        summed(t, x_sizes, sizes)
    for special in ([math.nan], [math.inf], [-math.inf], [math.inf, 1.0, 1.0, -math.inf]):
        summed(t, [3, 3, 2], [3, 1], special)


@hidden("2.2", of="same sizes", test="same sizes of others", title="random sizes of which nothing was broadcast", hint="Compare the sizes first.")
def _(t):
    for rank in range(1, 6):
        sizes = [t.random.randint(1, 5) for _ in range(rank)]
        t.check(summed(t, sizes, sizes)["same memory"][0] == 1, "the result has memory of its own; here x itself will do")


@hidden("2.2", of="empty", test="zeros anywhere", title="random dimensions of size 0", hint="A sum of no elements is 0.")
def _(t):
    for rank in range(1, 5):
        x_sizes = [t.random.randint(0, 3) for _ in range(rank)]
        x_sizes[t.random.randrange(rank)] = 0
        summed(t, x_sizes, [t.random.choice([1, size]) for size in x_sizes][t.random.randint(0, rank):])


@hidden("2.2", of="throws", test="throws anywhere", title="random sizes that do not broadcast", hint="Each size must be 1 or that of x, counted from the right.")
def _(t):
    for rank in range(1, 5):
        x_sizes = [t.random.randint(2, 5) for _ in range(rank)]
        wrong = list(x_sizes)
        wrong[t.random.randrange(rank)] += t.random.randint(1, 9)
        none, far = list(x_sizes), list(x_sizes)
        none[t.random.randrange(rank)], far[0] = 0, far[0] + 2**32
        for sizes in (wrong, [1, *x_sizes], [2, *x_sizes], none, far, [*x_sizes[:-1], math.prod(x_sizes) + 1]):
            t.throws(f"sizes {sizes} do not broadcast to {x_sizes}", "std::invalid_argument",
                     **{"x": t.quarters(math.prod(x_sizes)), "x sizes": x_sizes, "sizes": sizes, "offset": 0})
    for size in (2, t.random.randint(3, 9)):
        for x_sizes, sizes in [([1], [size]), ([4, 1], [4, size]), ([1, 4], [size, 4])]:
            t.throws(f"sizes {sizes} do not broadcast to {x_sizes}: what has size 1 there was never longer", "std::invalid_argument",
                     **{"x": t.quarters(math.prod(x_sizes)), "x sizes": x_sizes, "sizes": sizes, "offset": 0})
    for x_sizes, sizes in [([3, 5], [15]), ([3, 5], [5, 3]), ([15], [3, 5]), ([2, 3, 5], [6, 5]), ([2, 3, 5], [1, 5, 6]), ([2, 1, 3], [3, 1, 2])]:
        t.throws(f"sizes {sizes} do not broadcast to {x_sizes}, though there are as many elements", "std::invalid_argument",
                 **{"x": t.quarters(math.prod(x_sizes)), "x sizes": x_sizes, "sizes": sizes, "offset": 0})
