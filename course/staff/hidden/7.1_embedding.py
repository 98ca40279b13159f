"""Hidden tests of task 7.1."""
from judge.testing import hidden


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
