"""Hidden tests of task 2.2."""
import math

from judge.testing import hidden, positions


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


@hidden("2.2", of="new dimensions", test="many elements", title="20,000 elements, and few calls of write()",
        hint="write() says that somebody changed the memory: call it once, and keep the pointer.")
def _(t):
    x = t.quarters(200 * 100)
    reply = t.run(**{"x": x, "x sizes": [200, 100], "sizes": [100], "offset": 0})
    t.equal(reply["sum"], [sum(x[j::100]) for j in range(100)], "sum")
    t.at_most(reply["writes"][0], 10, "calls of write() of the result")
