"""Hidden tests of task 1.4."""
import math

from judge.testing import FAR, hidden, public


@hidden("1.4", of="parts", test="random strides", title="random sizes and strides",
        hint="Element (i, p) of a is a.data[i * a.row + p * a.column], whatever the strides are.")
def _(t):
    for _ in range(20):
        m, n, k = (t.random.randint(1, 12) for _ in range(3))
        a_strides = t.random.choice([[k, 1], [1, m], [k + 2, 1], [2, 2 * m + 1], [0, 1], [1, 0], [0, 0]])
        b_strides = t.random.choice([[n, 1], [1, k], [n + 2, 1], [2, 2 * k + 1], [0, 1], [1, 0], [0, 0]])
        a = t.quarters((m - 1) * a_strides[0] + (k - 1) * a_strides[1] + 1)
        b = t.quarters((k - 1) * b_strides[0] + (n - 1) * b_strides[1] + 1)
        found = t.run(m=m, n=n, k=k, a=a, b=b, a_strides=a_strides, b_strides=b_strides, memory=[-999.5] * (m * n))["memory"]
        expected = [sum(a[i * a_strides[0] + p * a_strides[1]] * b[p * b_strides[0] + j * b_strides[1]] for p in range(k))
                    for i in range(m) for j in range(n)]
        t.equal(found, expected, "out")


@hidden("1.4", of="sizes", test="larger matrices", title="matrices of 70 to 5,000", hint="Look at the smaller cases first.")
def _(t):
    for m, n, k in [(70, 33, 300), (3, 290, 81), (130, 129, 5), (2, 3, 5003), (3, 5003, 2), (5003, 2, 3)]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        found = t.run(m=m, n=n, k=k, a=a, b=b, a_strides=[k, 1], b_strides=[n, 1], memory=[-999.5] * (m * n))["memory"]
        t.is_product(found, a, b, m, n, k, "out")


@hidden("1.4", of="sizes", test="one after the other", title="sizes from 1 to 40, one of m, n and k at a time, and some around powers of 2", hint="Nothing may be left where a step of yours does not divide a size.")
def _(t):
    for size in [*range(1, 41), 63, 64, 65, 127, 129, 255, 257, 511, 513, 1023, 1025]:
        for m, n, k in [(size, 3, 2), (3, size, 2), (2, 3, size)]:
            public("1.4").product(t, m, n, k, before=7.0)


@hidden("1.4", of="transposed", test="one memory", title="a and b are seen in one memory, in each way", hint="Where a and b lie says nothing of the product.")
def _(t):
    for n in (2, 3, 7, 20, 33):
        values = t.quarters(n * n)
        ways = {(n, 1): values, (1, n): [values[j * n + i] for i in range(n) for j in range(n)], (0, 1): values[:n] * n, (1, 0): [v for v in values[:n] for _ in range(n)]}
        for a_strides, a in ways.items():
            for b_strides, b in ways.items():
                found = t.run(m=n, n=n, k=n, a=values, b=[], a_strides=list(a_strides), b_strides=list(b_strides), memory=[-999.5] * (n * n), same=1)["memory"]
                t.is_product(found, a, b, n, n, n, "out")


@hidden("1.4", of="small", test="other small ones", title="products of random small matrices", hint="out[i][j] is the sum of a[i][p] * b[p][j] over p.")
def _(t):
    for _ in range(8):
        public("1.4").product(t, *(t.random.randint(1, 3) for _ in range(3)), before=t.random.choice([0.0, 9.0]))


@hidden("1.4", of="not finite", test="not finite elsewhere", title="infinity and NaN at random places, in their own row and column alone", hint="Leave no product out: 0 times infinity is NaN.")
def _(t):
    for _ in range(6):
        m, n, k = (t.random.randint(2, 9) for _ in range(3))
        a, b = t.whole(m * k, 0, 1), t.whole(k * n, 0, 1)
        a[t.random.randrange(m * k)], b[t.random.randrange(k * n)] = t.random.choice([math.inf, math.nan]), -math.inf
        expected = [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]
        t.equal(public("1.4").multiplies(t, a, b, m, n, k)[:m * n], expected, "out")


@hidden("1.4", of="transposed", test="larger transposed", title="a and b of up to 130, seen transposed, or parts of larger ones",
        hint="Strides count for large matrices too.")
def _(t):
    for m, n, k in [(130, 70, 90), (3, 129, 260)]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        a_memory, b_memory = [-999.5] * (k * (m + 1)), [-999.5] * (2 * n * k)
        for p in range(k):
            a_memory[p * (m + 1):p * (m + 1) + m] = a[p::k]
            b_memory[2 * p::2 * k] = b[p * n:p * n + n]
        found = t.run(m=m, n=n, k=k, a=a_memory, b=b_memory, a_strides=[1, m + 1], b_strides=[2, 2 * k], memory=[0.0] * (m * n))["memory"]
        t.is_product(found, a, b, m, n, k, "out")


@hidden("1.4", of="far apart", test="columns far apart", title="rows or columns that lie 2^32 elements apart", hint="Strides and places are long.")
def _(t):
    for a_strides in ([FAR, 1], [1, FAR]):
        for b_strides in ([FAR, 1], [1, FAR]):
            a, b = t.quarters(4), t.quarters(4)
            found = t.run(m=2, n=2, k=2, a=a, b=b, a_strides=a_strides, b_strides=b_strides, memory=[0.0] * 4, apart=FAR)["memory"]
            at = lambda strides, i, j: 2 * i + j if strides[1] == 1 else i + 2 * j  # noqa: E731
            t.equal(found, [sum(a[at(a_strides, i, p)] * b[at(b_strides, p, j)] for p in range(2)) for i in range(2) for j in range(2)], "out")


@hidden("1.4", of="stale out", test="stale out of others", title="out held other numbers, of random sizes", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in (-3.5, float("inf"), float("nan")):
        public("1.4").product(t, t.random.randint(1, 20), t.random.randint(1, 20), t.random.randint(1, 20), before=before)


@hidden("1.4", of="empty", test="other empty matrices", title="k = 0 and random m and n", hint="A sum of no products is 0.")
def _(t):
    for _ in range(4):
        m, n = t.random.randint(1, 20), t.random.randint(1, 20)
        t.equal(public("1.4").multiplies(t, [], [], m, n, 0, before=5.0)[:m * n], [0.0] * (m * n), "out with k = 0")


@hidden("1.4", of="nothing else", test="nothing else of others", title="nothing behind out is written, of random sizes", hint="out has m * n elements.")
def _(t):
    for _ in range(5):
        m, n, k = (t.random.randint(1, 20) for _ in range(3))
        found = public("1.4").multiplies(t, t.quarters(m * k), t.quarters(k * n), m, n, k)
        t.equal(found[m * n:], [public("1.4").POISON] * 16, "memory behind out")
