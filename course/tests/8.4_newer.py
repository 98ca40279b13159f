"""Tests of task 8.4."""
import math

from judge.testing import task

T = task("8.4", "Parts of newer transformers", 20, "8_language/8.4_newer.cu",
         exports=["course::gpu::rms_norm", "course::gpu::rope", "course::gpu::swiglu", "course::gpu::grouped_attention"], extra=True)


def rms_norm(t, x, weight, in_place=0):
    return t.run(function="rms_norm", x=x, weight=weight, rows=len(x) // len(weight), in_place=in_place)


def rope(t, x, heads, d, first=0):
    return t.run(function="rope", x=x, rows=len(x) // (heads * d), heads=heads, d=d, first=first)


def swiglu(t, x, rows):
    return t.run(function="swiglu", x=x, rows=rows)


def attention(t, q, k, v, heads, groups, n):
    return t.run(function="grouped_attention", q=q, k=k, v=v, heads=heads, groups=groups, n=n)


def has_right_rms(t, rows, d):
    """Rows of random numbers have a mean square of 1."""
    out = rms_norm(t, t.floats(rows * d, 0.5, 3), [1.0] * d)["out"]
    for r in range(rows):
        t.close(math.fsum(each * each for each in out[r * d:r * d + d]) / d, 1.0, f"the mean square of row {r} of out", 1e-3)


@T.test(3, "rms norm", "rows are divided by the root of their mean square", hint="No mean is subtracted. kEpsilon is added to the mean square, below the root.")
def _(t):
    for x, d, squares in [([2.0], 1, [4.0]), ([3.0, 4.0], 2, [12.5]), ([1.0, 7.0, -5.0, 5.0, 0.0, 0.0], 2, [25.0, 25.0, 0.0])]:
        for in_place in (0, 1):
            found = rms_norm(t, x, [1.0] * d, in_place)["out"]
            t.close(found, [each / math.sqrt(squares[i // d] + 1e-5) for i, each in enumerate(x)], "out")
    found = rms_norm(t, [0.003, -0.004], [2.0, 10.0])["out"]
    t.close(found, [2 * 0.003 / math.sqrt(1.25e-5 + 1e-5), 10 * -0.004 / math.sqrt(1.25e-5 + 1e-5)], "out of small numbers, with a weight for each column", 1e-4)
    for rows, d in [(3, 31), (2, 64), (5, 65), (2, 300), (1, 1100)]:
        has_right_rms(t, rows, d)


@T.test(3, "rope", "pairs are turned by their place, and by the rate of their column", hint="Numbers e and e + d / 2 of a head are a pair; its angle is place / 10000^(2 e / d).")
def _(t):
    x = t.quarters(12)
    t.close(rope(t, x, 1, 12)["out"], x, "x at place 0")
    c, s = math.cos(1), math.sin(1)
    t.close(rope(t, [1.0, 0.0, 1.0, 0.0], 1, 2)["out"], [1.0, 0.0, c, s], "x of two places", 1e-4)
    t.close(rope(t, [0.0, 2.0], 1, 2, 1)["out"], [-2 * s, 2 * c], "x at place 1", 1e-4)
    t.close(rope(t, [1.0, 3.0, 0.0, 0.0], 1, 4, 2)["out"], [math.cos(2), 3 * math.cos(0.02), math.sin(2), 3 * math.sin(0.02)], "x at place 2", 1e-4)
    t.close(rope(t, [1.0, 0.0, 0.0, 1.0], 2, 2, 1)["out"], [c, s, -s, c], "x of two heads, at place 1", 1e-4)
    turned = [math.cos(1), math.cos(0.01), math.sin(1), math.sin(0.01)]
    t.close(rope(t, [1.0, 1.0, 0.0, 0.0] * 2, 2, 4, 1)["out"], turned * 2, "x of two heads with d = 4, at place 1", 1e-4)
    ones = rope(t, [1.0, 0.0] * 300, 3, 2, 0)["out"]
    t.close(ones, [each for place in range(100) for each in (math.cos(place), math.sin(place)) * 3], "x of 100 places and three heads", 1e-3)
    far = 2 ** 24  # the next place is no float
    turned = [each for place in (far, far + 1) for each in (math.cos(place), math.sin(place))]
    t.close(rope(t, [1.0, 0.0] * 2, 1, 2, far)["out"], turned, f"x at places {far} and {far + 1}", 1e-3)


@T.test(2, "distance", "products of turned rows depend on how far apart they stand", hint="Queries and keys are turned in the same way, so the product of two depends on the difference of their places.")
def _(t):
    for d in (2, 8, 64):
        q, k = t.floats(d), t.floats(d)
        product = []
        for first in (0, 5, 90):
            turned = [rope(t, x, 1, d, first + more)["out"] for x, more in ((q, 3), (k, 0))]
            product.append(math.fsum(map(float.__mul__, *turned)))
            t.close(math.fsum(each * each for each in turned[0]), math.fsum(each * each for each in q), "the sum of the squares of a turned row", 1e-3)
        t.close(product, product[:1] * 3, f"products of rows that are 3 places apart, at places 0, 5 and 90, with d = {d},", 1e-3)


@T.test(2, "swiglu", "silu of the left half of a row, times the right half", hint="The gate is on the left: u / (1 + exp(-u)) of it. A row of x has 2 * columns numbers.")
def _(t):
    def silu(u):
        return u / (1 + math.exp(-u))
    t.close(swiglu(t, [0.0, 5.0], 1)["out"], [0.0], "out")
    t.close(swiglu(t, [2.0, 3.0], 1)["out"], [3 * silu(2)], "out")
    t.close(swiglu(t, [1.0, -2.0, 3.0, 0.5, -1.0, 4.0, 2.0, 1.0], 2)["out"], [3 * silu(1), 0.5 * silu(-2), 2 * silu(-1), silu(4)], "out of two rows", 1e-4)
    t.close(swiglu(t, [200.0, -200.0, 0.25, 2.0], 1)["out"], [50.0, 0.0], "out of large numbers")


@T.test(4, "grouped attention", "heads of a group share keys and values", hint="Head h uses the keys and values of group h / (heads / groups). A row of k has groups * d numbers.")
def _(t):
    three = math.log(3)
    t.close(attention(t, [1.0], [0.0, three], [4.0, 8.0], 1, 1, 2)["out"], [7.0], "out")
    t.close(attention(t, [1.0, 0.0], [0.0, three], [4.0, 8.0], 2, 1, 2)["out"], [7.0, 6.0], "out of two heads that share keys")
    t.close(attention(t, [1.0, 1.0, 0.0, 1.0], [0.0, three, three, 0.0], [4.0, 1.0, 8.0, 5.0], 4, 2, 2)["out"], [7.0, 7.0, 3.0, 2.0], "out of four heads in two groups")
    t.close(attention(t, [2.0, 0.0, 0.0, 0.0], [three, 0.0, 0.0, 0.0] + [0.0] * 4, [8.0, 0.0, 1.0, 2.0, 4.0, 4.0, 1.0, -2.0], 1, 1, 2)["out"], [7.0, 1.0, 1.0, 1.0], "out with d = 4")
    for high in (300.0, -300.0):
        t.close(attention(t, [high], [1.0, 1.0, 2.0 if high < 0 else 0.0], [4.0, 8.0, 100.0], 1, 1, 3)["out"], [6.0], f"out with scores of {high:g}")
    for best in (0, 2, 32):
        k, v = [1.0 if j == best else 0.0 for j in range(40)], [5.0 if j == best else 9.0 for j in range(40)]
        t.close(attention(t, [300.0], k, v, 1, 1, 40)["out"], [5.0], f"out, where key {best} fits best by far")
    t.close(attention(t, [-200.0] * 2, [100.0] * 2, [4.0, 8.0], 2, 1, 2)["out"], [6.0, 6.0], "out with scores of -20,000", 5e-3)
    t.close(attention(t, [1.0, 0.0], [0.0, 0.0, three * math.sqrt(2), 5.0], [4.0, 0.0, 8.0, 0.0], 1, 1, 2)["out"], [7.0, 0.0], "out with d = 2", 1e-4)
    for heads, groups, n, d in [(6, 2, 70, 3), (8, 1, 33, 64), (4, 4, 100, 5), (2, 1, 1100, 1)]:
        v = [float(j % 7 + g) for j in range(n) for g in range(groups) for _ in range(d)]
        found = attention(t, t.floats(heads * d), [0.5] * (n * groups * d), v, heads, groups, n)["out"]
        mean = sum(j % 7 for j in range(n)) / n
        t.close(found, [mean + h // (heads // groups) for h in range(heads) for _ in range(d)], "out, where all keys are equal", 1e-4)


@T.test(2, "launches", "each part is one launch", hint="What a second kernel would read from memory, the first has in registers or in shared memory.")
def _(t):
    if not t.on_gpu:
        for name, reply in (("rms_norm", rms_norm(t, t.floats(600), t.floats(200))), ("rope", rope(t, t.floats(96), 2, 8)), ("swiglu", swiglu(t, t.floats(80), 4)),
                            ("grouped_attention", attention(t, t.floats(32), t.floats(320), t.floats(320), 4, 2, 20))):
            t.at_most(len(reply.launches), 1, f"launches of {name}")


def count(t, what, reply, loads, stores):
    if not t.on_gpu:
        found = [sum(each[f"global_{name}_bytes"] for each in reply.launches) / 4 for name in ("load", "store")]
        t.at_most(found[0], loads, f"numbers that {what} loads from global memory")
        t.at_most(found[1], stores, f"numbers that {what} stores to global memory")


@T.test(4, "loads", "each number is loaded as often as is needed",
        hint="A thread of rope has both numbers of a pair. A block of the attention has a group: it loads a tile of keys and values for all heads of the group.")
def _(t):
    rows, d = 5, 130
    count(t, "rms_norm", rms_norm(t, t.floats(rows * d), t.floats(d)), 3 * rows * d, rows * d)
    count(t, "rope", rope(t, t.floats(480), 3, 16), 480, 480)
    count(t, "swiglu", swiglu(t, t.floats(400), 4), 400, 200)
    heads, groups, n, d = 8, 2, 96, 16
    count(t, "grouped_attention", attention(t, t.floats(heads * d), t.floats(n * groups * d), t.floats(n * groups * d), heads, groups, n), 2 * n * groups * d + 8 * heads * d, heads * d)
