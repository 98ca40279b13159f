"""Hidden tests of task 3.1."""
import array

from judge.testing import EXTREMES1, OF_EXTREMES1, Op1, hidden, public


@hidden("3.1", of="any length", test="random lengths", title="random lengths", hint="Try lengths up to 6000.")
def _(t):
    for n in sorted(t.random.randint(1, 6000) for _ in range(6)):
        x = t.floats(n)
        t.equal(t.run(op=Op1.neg, x=x)["out"], [-each for each in x], "out")
    for bits in (25, 31, 33):
        public("3.1").queued(t, 2 ** bits + t.random.randint(1, 9999))


@hidden("3.1", of="operations", test="in place", title="out is x", hint="out and x may be the same memory.")
def _(t):
    x = t.quarters(256)
    t.equal(t.run(op=Op1.square, x=x, in_place=1)["out"], [each * each for each in x], "out")


@hidden("3.1", of="several blocks", test="many elements", title="1,100,000 elements, in one launch", hint="As many blocks as the elements need.")
def _(t):
    x = t.quarters(10007) * 110
    reply = t.run(op=Op1.neg, x=x)
    t.equal(reply["out"], [-each for each in x], "out")
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")


@hidden("3.1", of="operations", test="not finite", title="large numbers, infinity and NaN", hint="Let apply(op, x) compute each result.")
def _(t):
    for op, expected in OF_EXTREMES1.items():
        order = t.random.choices(range(7), k=300)
        t.close(t.run(op=op, x=[EXTREMES1[i] for i in order])["out"], [expected[i] for i in order], "out")


@hidden("3.1", of="loads", test="loads of all operations", title="n loads and n stores for each operation, of any length",
        hint="A thread loads its element once, and stores once, whatever the operation.")
def _(t):
    for op in Op1:
        reply = t.run(op=op, x=[0.5, 2.5] * 150)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), 300, "loads from global memory")
            t.at_most(reply.total("global_stores"), 300, "stores to global memory")


@hidden("3.1", of="one block", test="blocks of other numbers", title="256 other numbers, five times", hint="Thread i computes out[i] from x[i].")
def _(t):
    for _ in range(5):
        public("3.1").negated(t, 256)


@hidden("3.1", of="sectors", test="sectors of other lengths", title="n / 8 sectors are read and n / 8 written, of other lengths", hint="Neighbouring threads take neighbouring elements.")
def _(t):
    for n in (1024, 3072, 10240):
        reply = public("3.1").negated(t, n)
        if not t.on_gpu:
            t.at_most(reply.total("sectors"), 2 * n / 8, "sectors", reply.worst("sectors"))


@hidden("3.1", of="operations", test="operations on others", title="each operation, on random numbers, small ones and negative ones",
        hint="Let apply(op, x) compute each result.")
def _(t):
    for x in t.floats(9, 0.1, 6), [sign * 10.0 ** -e for e in (1, 2, 4, 6, 8, 12, 18) for sign in (1, -1)], t.floats(9, -15, -1):
        x = list(array.array("f", x))
        for op, f in public("3.1").FUNCTIONS.items():
            kept = [value for value in x if value > 0] if op == Op1.log else x
            t.close(t.run(op=op, x=kept)["out"], list(map(f, kept)), "out", least=0)


@hidden("3.1", of="any length", test="any place", title="random lengths of memory that begins at any float, by every operation",
        hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for op, f in public("3.1").FUNCTIONS.items():
        for shift in (1, 2, 3):
            x = t.quarters(t.random.randint(200, 600), 1, 8)
            t.close(t.run(op=op, x=x, shift=shift)["out"], list(map(f, x)), "out", least=0)
