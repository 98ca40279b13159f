"""Hidden tests of task 3.5."""
from judge.testing import Op2, hidden


@hidden("3.5", of="any length", test="random rows", title="random numbers of rows of random lengths",
        hint="Try up to 8 rows of up to 2000 elements.")
def _(t):
    for _ in range(5):
        rows, n = t.random.randint(1, 8), t.random.randint(257, 2000)
        x = t.quarters(rows * n)
        t.equal(t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")


@hidden("3.5", of="long rows", test="longer rows", title="longer rows", hint="Try a row of 100,000 elements.")
def _(t):
    for rows, n in [(1, 100000), (3, 8193 + t.random.randint(0, 2000))]:
        x = t.quarters(rows * n)
        t.equal(t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")


@hidden("3.5", of="spread", test="launches of short rows", title="at most two launches for rows of every length",
        hint="Let a block's number say which row is its own: one launch does all rows.")
def _(t):
    for rows, n in [(40, 9), (12, 700), (301, 40), (2, 9000)]:
        x = t.quarters(rows * n)
        reply = t.run(op=Op2.add, start=[0.0], rows=rows, n=n, x=x)
        t.equal(reply["results"], [sum(x[r * n:r * n + n]) for r in range(rows)], "out")
        if not t.on_gpu:
            t.at_most(len(reply.launches), 2, "launches")
            t.at_most(reply.total("atomics"), 0, "atomic operations")
