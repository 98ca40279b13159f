"""Hidden tests of task 1.5."""
import math

from judge.testing import Op2, hidden, public


def result(t, x, **more):
    return public("1.5").result(t, x, **more)


@hidden("1.5", of="tail", test="random lengths", title="random lengths and numbers of chunks",
        hint="The last part may be shorter; it counts, and it ends where x ends.")
def _(t):
    for _ in range(20):
        x = t.quarters(t.random.randint(1, 3000), 1, 8)
        chunks, backwards = t.random.randint(1, 40), t.random.randint(0, 1)
        t.equal(result(t, x, start=2.0, chunks=chunks, backwards=backwards), 2 + sum(x), "sum")
        t.equal(result(t, [-each for each in x], op=Op2.maximum, start=-math.inf, chunks=chunks, backwards=backwards), -min(x), "maximum")


@hidden("1.5", of="same bits", test="bits of odd lengths", title="the same bits, where no part divides the length",
        hint="Where x is cut must follow from n alone.")
def _(t):
    for n in [t.random.randint(3000, 6000) for _ in range(4)] + [300 * 256 + 77, 1300 * 256 + 9]:
        for op, low, high in ((Op2.add, -1.0, 1.0), (Op2.mul, 0.99, 1.01)):
            x = (t.floats(5000, low, high) * (n // 5000 + 1))[:n]
            if op == Op2.mul:
                x[1::2] = [2 - each for each in x[:n - 1:2]]  # so that the product of many stays near 1
            expected = result(t, x, op=op, start=1.0, chunks=1)
            for _ in range(4):
                chunks = t.random.randint(2, 50)
                found = result(t, x, op=op, start=1.0, chunks=chunks, backwards=t.random.randint(0, 1))
                t.check(found == expected, f"{op} of {n}: {found:.9g} with {chunks} chunks, and {expected:.9g} with 1 chunk")


@hidden("1.5", of="no race", test="races elsewhere", title="no race with other lengths and numbers of chunks",
        hint="Let each call of the body write only to elements that no other call touches.")
def _(t):
    for op in (Op2.add, Op2.mul, Op2.maximum):
        for n, chunks, backwards in [(5, 3, 0), (700, 3, 1), (5000, 20, 1), (4096, 16, 0), (300 * 256 + 3, 3, 0)]:
            x = (t.quarters(5000) * (n // 5000 + 1))[:n]
            result(t, x, op=op, chunks=chunks, backwards=backwards, races=True)
            x[::50] = [0.0] * len(x[::50])
            result(t, x, op=op, chunks=chunks, backwards=backwards, races=True)


@hidden("1.5", of="values", test="many numbers", title="30,000 numbers", hint="Nothing limits the number of parts.")
def _(t):
    x = t.quarters(30011)
    t.equal(result(t, x, start=0.25, chunks=7), 0.25 + sum(x), "sum")
    t.equal(result(t, x, op=Op2.maximum, start=-math.inf, chunks=100), max(x), "maximum")
    x = [-1.0] * t.random.randint(300, 900) + [0.0] + [-1.0] * t.random.randint(300, 900)
    for op, start in [(Op2.mul, 1.0), (Op2.maximum, -math.inf)]:
        t.equal(result(t, x, op=op, start=start), 0.0, "the result of -1 and one 0")


@hidden("1.5", of="many parts", test="more parts", title="300,000 numbers, 2.5 million, and infinity", hint="Nothing limits the number of parts.")
def _(t):
    x = t.quarters(300011, -1, 1)
    t.equal(result(t, x, start=0.25, chunks=9), 0.25 + sum(x), "sum")
    n = 10007 * 256 - 5
    for op, start, x, expected in ((Op2.add, 0.0, [1.0] * n, float(n)), (Op2.mul, 1.0, [1.0] * (n - 1) + [-3.0], -3.0), (Op2.maximum, -math.inf, [-2.0] * (n - 1) + [-1.0], -1.0)):
        t.equal(result(t, x, op=op, start=start, chunks=9), expected, "the result of many parts")
    t.equal(result(t, [1.0, math.inf, -math.inf] * 100, op=Op2.maximum, start=-math.inf), math.inf, "maximum")
    t.equal(result(t, [-math.inf] * 600, op=Op2.maximum, start=-math.inf), -math.inf, "maximum")


@hidden("1.5", of="tail is shared", test="other tails shared", title="x is read in chunks alone, its last elements too",
        hint="The last part is shorter; it is a part all the same.")
def _(t):
    for n in [1, 255, 64 * 256 + 200, 10 * 256 + 1]:
        for op in (Op2.add, Op2.mul, Op2.maximum):
            reply = t.run(findings=True, x=t.quarters(n), op=op, start=0.0, chunks=8, backwards=0)
            t.at_most(reply["outside"][0], 0, "elements of x that the code outside of chunks has read")


@hidden("1.5", of="work is shared", test="work of others", title="each of 5 chunks reads a fifth of x", hint="Let parallel_for run over the parts.")
def _(t):
    for n in (50 * 256 + 77, 300 * 256):
        x = (t.quarters(5000, 1, 8) * (n // 5000 + 1))[:n]
        for op, start in ((Op2.add, 0.0), (Op2.mul, 1.0), (Op2.maximum, -math.inf)):
            reply = t.run(findings=True, x=x, op=op, start=start, chunks=5, backwards=1)
            t.check(reply["calls"][0] >= 1, "parallel_for was never called")
            t.at_most(reply["busiest"][0] + reply["outside"][0], 2 * len(x) / 5, "elements of x that the longest chunk and the code outside of chunks have read")


@hidden("1.5", of="none", test="nothing of others", title="no elements, other operations and chunks", hint="Without elements the result is start.")
def _(t):
    for op, start in ((Op2.add, -3.5), (Op2.mul, 1.0), (Op2.maximum, -math.inf)):
        for chunks in (1, 2, 9):
            t.equal(result(t, [], op=op, start=start, chunks=chunks), start, "the result of nothing")


@hidden("1.5", of="start", test="other starts", title="start counts once, of random lengths", hint="start joins at the end.")
def _(t):
    for _ in range(6):
        n, start = t.random.randint(1, 3000), float(t.random.randint(-999, 999))
        t.equal(result(t, [1.0] * n, start=start, chunks=t.random.randint(1, 20)), start + n, "sum")
        t.equal(result(t, [2.0] * 5 + [1.0] * n, op=Op2.mul, start=4.0, chunks=t.random.randint(1, 20)), 128.0, "product")
    for n in (1, 300, 3000):
        x = t.quarters(n)
        for start in (1000.0, 9.0, -9.0):
            t.equal(result(t, x, op=Op2.maximum, start=start, chunks=t.random.randint(1, 20)), max(start, *x), "maximum")
            t.equal(result(t, x, start=start, chunks=t.random.randint(1, 20)), start + sum(x), "sum")
