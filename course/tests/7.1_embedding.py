"""Tests of task 7.1."""
import array

from judge.testing import task

T = task("7.1", "Embeddings", 15, "7_transformer/7.1_embedding.cu",
         exports=["course::gpu::embedding", "course::gpu::embedding_backward"], extra=True)


def embed(t, ids, table, places, d):
    return t.run(ids=ids, table=table, places=places, length=len(places) // d, d=d)


def gradients(t, ids, dout, vocabulary, length, d):
    return t.run(ids=ids, dout=dout, vocabulary=vocabulary, length=length, d=d)


def sums_in_order(t, ids, vocabulary, length, d=8):
    """Gradients are the sums of floats in the order of the tokens, or those of doubles, rounded at the end. Sums of another order are
    others in one of d columns at least."""
    dout = t.floats(len(ids) * d)
    found = gradients(t, ids, dout, vocabulary, length, d)
    for name, rows, row_of in (("dtable", vocabulary, lambda i: ids[i]), ("dplaces", length, lambda i: i % length)):
        sums = [array.array(kind, [0.0] * (rows * d)) for kind in "fd"]
        for i, each in enumerate(dout):
            for kind in sums:
                kind[row_of(i // d) * d + i % d] += each
        rounded = list(array.array("f", sums[1]))
        t.equal(found[name], rounded if found[name] == rounded else list(sums[0]), name)


@T.test(3, "rows", "each token gets the row of its number", hint="Element (i, e) of out is element (ids[i], e) of the table.")
def _(t):
    for ids, d in [([0], 1), ([2, 0, 1, 2], 1), ([1, 1, 0], 3), ([4, 3, 2, 1, 0, 4, 4], 40), ([2, 1], 1100)]:
        table = [100.0 * v + e / 4 for v in range(5) for e in range(d)]
        found = embed(t, ids, table, [0.0] * (len(ids) * d), d)["out"]
        t.equal(found, [100.0 * v + e / 4 for v in ids for e in range(d)], "out")


@T.test(2, "places", "places count from 0 in each piece", hint="Token i stands at place i % length.")
def _(t):
    for ids, length, d in [([0, 0, 0, 0], 2, 1), ([1, 0, 1, 0, 1, 1], 3, 2), ([0, 1, 0, 1, 1], 4, 3)]:
        places = [float(p + 1) for p in range(length) for _ in range(d)]
        found = embed(t, ids, [0.25] * d + [0.5] * d, places, d)["out"]
        t.equal(found, [i % length + 1 + 0.25 * (1 + v) for i, v in enumerate(ids) for _ in range(d)], "out")


@T.test(2, "loads", "one launch, and neighbours load neighbours", hint="Let neighbouring threads take neighbouring columns of a row.")
def _(t):
    rows, d = 48, 64
    reply = embed(t, [i * 7 % 5 for i in range(rows)], t.quarters(5 * d), t.quarters(16 * d), d)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")
        t.at_most(reply.total("global_loads"), 3 * rows * d, "loads from global memory")
        t.at_most(reply.total("global_stores"), rows * d, "stores to global memory")
        t.at_most(reply.total("sectors"), 3 * rows * d / 8 + rows * d / 32, "sectors", reply.worst("sectors"))


@T.test(3, "gradient of the table", "a row of the table gets the sum of its tokens' rows",
        hint="A row of dtable collects from all tokens that used it; a row that nobody used is 0.")
def _(t):
    found = gradients(t, [1], [2.5], 3, 1, 1)
    t.equal(found["dtable"], [0.0, 2.5, 0.0], "dtable")
    found = gradients(t, [2, 0, 2, 2], [1.0, 2.0, 4.0, 8.5], 3, 4, 1)
    t.equal(found["dtable"], [2.0, 0.0, 13.5], "dtable")
    found = gradients(t, [1, 1, 0], [1.0, 10.0, 2.0, 20.0, 4.0, 40.5], 2, 3, 2)
    t.equal(found["dtable"], [4.0, 40.5, 3.0, 30.0], "dtable")
    dout = t.quarters(300)
    t.equal(gradients(t, [1], dout, 3, 1, 300)["dtable"], [0.0] * 300 + dout + [0.0] * 300, "dtable")
    t.equal(gradients(t, [i % 3 for i in range(1200)], [0.5] * 1200, 4, 5, 1)["dtable"], [200.0] * 3 + [0.0], "dtable of 1200 tokens")
    t.equal(gradients(t, [], [], 3, 2, 2)["dtable"], [0.0] * 6, "dtable of no tokens")


@T.test(2, "gradient of the places", "a place gets the sum of the tokens that stand there",
        hint="The tokens at place p are p, p + length, p + 2 length, ...; the last piece may be shorter.")
def _(t):
    found = gradients(t, [0, 0, 0, 0], [1.0, 2.0, 4.0, 8.5], 1, 2, 1)
    t.equal(found["dplaces"], [5.0, 10.5], "dplaces")
    found = gradients(t, [0, 1, 0, 1, 1], [1.0, 2.0, 4.0, 8.0, 16.0], 2, 3, 1)
    t.equal(found["dplaces"], [9.0, 18.0, 4.0], "dplaces")
    t.equal(gradients(t, [0], [3.0, 5.0], 1, 2, 2)["dplaces"], [3.0, 5.0, 0.0, 0.0], "dplaces, where nobody stands at place 1")
    t.equal(gradients(t, [], [], 3, 2, 2)["dplaces"], [0.0] * 4, "dplaces of no tokens")


@T.test(2, "order", "sums in the order of the tokens", hint="One thread for each number of dtable goes over all tokens: no order is left to chance.")
def _(t):
    sums_in_order(t, [t.random.randrange(2) for _ in range(360)], 2, 3)


@T.test(1, "launches", "at most two launches, without atomics", hint="Each number of a gradient is stored once, by one thread.")
def _(t):
    reply = gradients(t, [i % 7 for i in range(40)], t.quarters(40 * 5), 7, 8, 5)
    if not t.on_gpu:
        t.at_most(len(reply.launches), 2, "launches")
        t.at_most(reply.total("atomics"), 0, "atomic operations")
        t.at_most(reply.total("global_stores"), (7 + 8) * 5, "stores to global memory")
