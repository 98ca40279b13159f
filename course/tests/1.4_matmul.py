"""Tests of task 1.4."""
import math

from judge.testing import FAR, task

T = task("1.4", "Matrix product", 15, "1_cpu/1.4_matmul.cpp", exports=["course::cpu::matmul"])

POISON = -555.5  # around the elements of a and b, and behind out


def stored(values, rows, columns, row, column):
    """The row-major values in memory with these strides, poison between them and behind."""
    memory = [POISON] * (max(0, rows - 1) * row + max(0, columns - 1) * column + 65)
    for i in range(rows):
        for j in range(columns):
            memory[i * row + j * column] = values[i * columns + j]
    return memory


def multiplies(t, a, b, m, n, k, a_strides=None, b_strides=None, before=0.0):
    """a and b: row-major values. The memory of out, 16 elements longer than out."""
    a_strides, b_strides = a_strides or [k, 1], b_strides or [n, 1]
    return t.run(m=m, n=n, k=k, a=stored(a, m, k, *a_strides), b=stored(b, k, n, *b_strides), a_strides=a_strides,
                 b_strides=b_strides, memory=[before] * (m * n) + [POISON] * 16)["memory"]


def product(t, m, n, k, **more):
    a, b = t.quarters(m * k), t.quarters(k * n)
    t.is_product(multiplies(t, a, b, m, n, k, **more)[:m * n], a, b, m, n, k, "out")


@T.test(2, "small", "products that can be done by hand", hint="out[i][j] is the sum of a[i][p] * b[p][j] over p.")
def _(t):
    t.equal(multiplies(t, [3.0], [5.0], 1, 1, 1)[:1], [15.0], "out")
    t.equal(multiplies(t, [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], 2, 2, 2)[:4], [19.0, 22.0, 43.0, 50.0], "out")
    t.equal(multiplies(t, [1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 1.0], 2, 2, 2)[:4], [1.0, 2.0, 3.0, 4.0], "a times 1")


@T.test(1, "not finite", "0 times infinity, and NaN", hint="Leave no product out, not even one with 0: 0 times infinity is NaN.")
def _(t):
    for a, b, expected in [([0.0], [math.inf], math.nan), ([0.0, 1.0], [math.nan, 2.0], math.nan), ([math.inf, 1.0], [0.0, 2.0], math.nan),
                           ([math.inf, 1.0], [2.0, 2.0], math.inf)]:
        t.equal(multiplies(t, a, b, 1, 1, len(a))[:1], [expected], f"the product of {a} and {b}")


@T.test(3, "sizes", "m, n and k differ", hint="a has m rows and k columns, b has k rows and n columns, out has m rows and n columns.")
def _(t):
    for m, n, k in [(1, 2, 3), (2, 1, 3), (3, 2, 1), (4, 7, 5), (16, 3, 20), (9, 13, 11), (2, 3, 1030)]:
        product(t, m, n, k)


@T.test(3, "transposed", "a and b are seen transposed",
        hint="Element (i, p) of a is a.data[i * a.row + p * a.column], whatever the strides are.")
def _(t):
    for m, n, k in [(2, 2, 2), (3, 4, 2), (5, 2, 6)]:
        product(t, m, n, k, a_strides=[1, m])
        product(t, m, n, k, b_strides=[1, k])
        product(t, m, n, k, a_strides=[1, m], b_strides=[1, k])
    for b_strides, expected in [([2, 1], [7.0, 10.0, 15.0, 22.0]), ([1, 2], [5.0, 11.0, 11.0, 25.0])]:
        found = t.run(m=2, n=2, k=2, a=[1.0, 2.0, 3.0, 4.0], b=[], a_strides=[2, 1], b_strides=b_strides, memory=[0.0] * 4, same=1)["memory"]
        t.equal(found, expected, "out, where a and b are seen in one memory")


@T.test(1, "parts", "a and b are parts of larger matrices, or repeat a row or column", hint="The rows of a may lie further apart than k elements; a stride of 0 repeats.")
def _(t):
    for m, n, k in [(2, 2, 2), (3, 4, 5)]:
        product(t, m, n, k, a_strides=[k + 3, 1], b_strides=[2 * n + 1, 2])
        product(t, m, n, k, a_strides=[2, 2 * m], b_strides=[n + 1, 1])
    for a_strides, b_strides, expected in [([0, 1], [2, 1], [13.0, 16.0] * 2), ([1, 0], [2, 1], [8.0, 10.0, 16.0, 20.0]), ([2, 1], [0, 1], [9.0, 12.0, 21.0, 28.0]),
                                           ([2, 1], [1, 0], [11.0, 11.0, 25.0, 25.0])]:
        found = t.run(m=2, n=2, k=2, a=[1.0, 2.0, 3.0, 4.0], b=[3.0, 4.0, 5.0, 6.0], a_strides=a_strides, b_strides=b_strides, memory=[0.0] * 4)["memory"]
        t.equal(found, expected, "out")


@T.test(1, "far apart", "rows or columns of a and b that lie 2^32 elements apart", hint="Strides and places are long.")
def _(t):
    for strides, expected in [([FAR, 1], [19.0, 22.0, 43.0, 50.0]), ([1, FAR], [23.0, 31.0, 34.0, 46.0])]:
        found = t.run(m=2, n=2, k=2, a=[1.0, 2.0, 3.0, 4.0], b=[5.0, 6.0, 7.0, 8.0], a_strides=strides, b_strides=strides, memory=[0.0] * 4, apart=FAR)
        t.equal(found["memory"], expected, "out")


@T.test(2, "stale out", "out held other numbers before", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in [1000.0, float("nan")]:
        product(t, 3, 3, 2, before=before)


@T.test(1, "empty", "k = 0, or no rows or columns", hint="A sum of no products is 0.")
def _(t):
    t.equal(multiplies(t, [], [], 2, 3, 0, before=POISON)[:6], [0.0] * 6, "out with k = 0")
    for m, n in [(0, 2), (2, 0)]:
        t.equal(multiplies(t, [1.0] * (m * 2), [1.0] * (2 * n), m, n, 2), [POISON] * 16, f"memory of an out with m = {m}, n = {n}")


@T.test(1, "nothing else", "nothing behind out is written", hint="out has m * n elements.")
def _(t):
    for m, n, k in [(2, 3, 4), (3, 2, 1)]:
        t.equal(multiplies(t, t.quarters(m * k), t.quarters(k * n), m, n, k)[m * n:], [POISON] * 16, "memory behind out")
