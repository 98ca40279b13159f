"""Hidden tests of task 1.6."""
from judge.testing import hidden, public


@hidden("1.6", of="edges", test="random sizes", title="random sizes", hint="The last block along m, n or k may be smaller.")
def _(t):
    for counted in [0, 1]:
        for _ in range(4):
            m, n, k = (t.random.randint(1, 80) for _ in range(3))
            a, b = t.quarters(m * k), t.quarters(k * n)
            reply = t.run(m=m, n=n, k=k, a=a, b=b, counted=counted, memory=[-999.5] * (m * n))
            t.is_product(reply["c"], a, b, m, n, k, "out")


@hidden("1.6", of="misses", test="misses of other sizes", title="cache misses with other sizes",
        hint="Loop over blocks outside and within blocks inside, along all of m, n and k.")
def _(t):
    for m, n, k in [(32, 256, 128), (128, 32, 256), (32, 64, 1024)]:
        t.at_most(sum(public("1.6").misses(t, m, n, k)), 3 * m * n * k / (16 * 32) + 2 * m * n / 16, f"cache misses with m, n, k = {m}, {n}, {k}")


@hidden("1.6", of="whole blocks", test="larger sizes", title="sizes of up to 2,000", hint="Nothing limits the number of blocks.")
def _(t):
    for m, n, k in [(300, 40, 33), (20, 310, 70), (35, 36, 400), (2003, 3, 5), (2, 2003, 4), (3, 4, 2003)]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        t.is_product(t.run(m=m, n=n, k=k, a=a, b=b, counted=0, memory=[-999.5] * (m * n))["c"], a, b, m, n, k, "out")


@hidden("1.6", of="one block", test="not finite", title="0 times infinity is NaN", hint="Leave no product out: 0 times infinity is NaN.")
def _(t):
    inf = float("inf")
    for counted in [0, 1]:
        found = t.run(m=1, n=2, k=2, a=[0.0, 1.0], b=[inf, 3.0, 2.0, inf], counted=counted, memory=[0.0] * 2)["c"]
        t.equal(found, [float("nan"), inf], "out")
        found = t.run(m=2, n=1, k=2, a=[inf, 3.0, 2.0, inf], b=[0.0, 1.0], counted=counted, memory=[0.0] * 2)["c"]
        t.equal(found, [float("nan"), inf], "out")
        for size in (32, 40):  # a whole block, and tails
            a, b = [0.0] * (size * size), [1.0] * (size * size)
            b[5 * size + 7] = inf
            expected = [float("nan") if i % size == 7 else 0.0 for i in range(size * size)]
            t.equal(t.run(m=size, n=size, k=size, a=a, b=b, counted=counted, memory=[0.0] * (size * size))["c"], expected, "out")


@hidden("1.6", of="stale out", test="stale out of others", title="out held other numbers, of random sizes", hint="Nothing may depend on what out held before the call.")
def _(t):
    for before in (-3.5, float("inf"), float("nan")):
        for counted in (0, 1):
            public("1.6").product(t, *(t.random.randint(1, 70) for _ in range(3)), counted=counted, before=before)


@hidden("1.6", of="out stays", test="out stays in other sizes", title="misses of out, of other sizes", hint="The same block of out is used again until it is complete.")
def _(t):
    for m, n, k in [(64, 128, 96), (32, 96, 160), (160, 64, 64), (64, 256, 64), (256, 64, 64), (64, 64, 640)]:
        found = public("1.6").misses(t, m, n, k)
        t.at_most(found[0], 2 * m * n / 16, f"cache misses of out with m, n, k = {m}, {n}, {k}")
        t.at_most(sum(found), 2 * m * n * k / (16 * 32) + 2 * m * n / 16, f"cache misses with m, n, k = {m}, {n}, {k}")
