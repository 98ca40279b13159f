"""Hidden tests of task 7.1."""
from judge.testing import hidden, public


@hidden("7.1", of="rows", test="random tokens", title="random tokens, places and widths", hint="A token has a row of the table, and a place in its piece.")
def _(t):
    for rows, d, length, vocabulary in [(3, 5, 2, 4), (70, 33, 16, 9), (5003, 2, 7, 300), (2, 1500, 2, 2), (70001, 1, 3, 2), (9, 2, 3001, 3001)]:
        ids = [t.random.randrange(vocabulary) for _ in range(rows)]
        table, places = t.quarters(vocabulary * d), t.quarters(length * d)
        found = t.run(ids=ids, table=table, places=places, length=length, d=d)
        t.equal(found["out"], [table[v * d + e] + places[i % length * d + e] for i, v in enumerate(ids) for e in range(d)], "out")
        if not t.on_gpu:
            t.at_most(len(found.launches), 1, "launches")


@hidden("7.1", of="gradient of the table", test="random gradients", title="random tokens, places and widths",
        hint="A number of a gradient collects from every token that used it, and from no other.")
def _(t):
    for rows, d, length, vocabulary in [(3, 5, 2, 4), (70, 33, 16, 9), (600, 2, 7, 300), (3, 1500, 2, 2), (11003, 1, 3, 2), (3, 1, 2, 70001), (3, 1, 70001, 2)]:
        ids, dout = [t.random.randrange(vocabulary) for _ in range(rows)], t.quarters(rows * d)
        table, places = [0.0] * (vocabulary * d), [0.0] * (length * d)
        for i, v in enumerate(ids):
            for e in range(d):
                table[v * d + e] += dout[i * d + e]
                places[i % length * d + e] += dout[i * d + e]
        found = t.run(ids=ids, dout=dout, vocabulary=vocabulary, length=length, d=d)
        t.equal(found["dtable"], table, "dtable")
        t.equal(found["dplaces"], places, "dplaces")
        if not t.on_gpu:
            t.at_most(len(found.launches), 2, "launches")
            t.at_most(found.total("atomics"), 0, "atomic operations")


@hidden("7.1", of="rows", test="many kinds of tokens", title="a vocabulary of 40,000, and 1,000 places", hint="A token is an int, and so is a place.")
def _(t):
    ids = [39999, 32767, 32768, 0, 39999]
    table = [float(v) for v in range(40000)]
    t.equal(t.run(ids=ids, table=table, places=[0.0], length=1, d=1)["out"], [float(v) for v in ids], "out")
    dout = t.quarters(5)
    found = t.run(ids=ids, dout=dout, vocabulary=40000, length=1, d=1)["dtable"]
    t.equal([found[v] for v in (39999, 32767, 32768, 0)], [dout[0] + dout[4], *dout[1:4]], "dtable of tokens 39999, 32767, 32768 and 0")


@hidden("7.1", of="places", test="random places", title="random lengths of pieces", hint="Token i stands at place i % length.")
def _(t):
    for _ in range(4):
        length, rows, d = t.random.randint(1, 300), t.random.randint(1, 700), t.random.randint(1, 3)
        places = t.quarters(length * d)
        found = public("7.1").embed(t, [0] * rows, [0.0] * d, places, d)["out"]
        t.equal(found, [places[i % length * d + e] for i in range(rows) for e in range(d)], "out")


@hidden("7.1", of="gradient of the places", test="random gradients of places", title="random lengths of pieces", hint="The tokens at place p are p, p + length, p + 2 length, ...")
def _(t):
    for _ in range(4):
        length, rows = t.random.randint(1, 300), t.random.randint(1, 700)
        dout = t.quarters(rows)
        found = public("7.1").gradients(t, [0] * rows, dout, 1, length, 1)["dplaces"]
        t.equal(found, [sum(dout[p::length]) for p in range(length)], "dplaces")


@hidden("7.1", of="order", test="order of many", title="sums of 400 and of 700 fractions, to the last bit", hint="One thread for each number of dtable goes over all tokens.")
def _(t):
    public("7.1").sums_in_order(t, [0] * 400, 1, 1)
    public("7.1").sums_in_order(t, [t.random.randrange(3) for _ in range(700)], 3, 5)


@hidden("7.1", of="loads", test="loads of other sizes", title="neighbours load neighbours, of 20 tokens of 128", hint="Let neighbouring threads take neighbouring columns of a row.")
def _(t):
    rows, d = 20, 128
    reply = public("7.1").embed(t, [i * 5 % 9 for i in range(rows)], t.quarters(9 * d), t.quarters(8 * d), d)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), 3 * rows * d, "loads from global memory")
        t.at_most(reply.total("sectors"), 3 * rows * d / 8 + rows * d / 32, "sectors", reply.worst("sectors"))


@hidden("7.1", of="launches", test="launches of other sizes", title="at most two launches, of 300 tokens", hint="Each number of a gradient is stored once, by one thread.")
def _(t):
    reply = public("7.1").gradients(t, [i % 11 for i in range(300)], t.quarters(300 * 3), 11, 20, 3)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 2, "launches")
        t.at_most(reply.total("atomics"), 0, "atomic operations")
        t.at_most(reply.total("global_stores"), (11 + 20) * 3, "stores to global memory")
