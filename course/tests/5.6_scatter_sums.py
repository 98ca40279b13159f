"""Tests of task 5.6."""
from judge.testing import task

T = task("5.6", "Reduce-scatter and all-gather", 15, "5_parallel/5.6_scatter_sums.cpp", exports=["course::reduce_scatter", "course::all_gather"], extra=True)


def run(t, ranks, n, order=None, **numbers):
    """data: the numbers of rank 0, then those of rank 1, and so on; or parts: part 0, part 1, and so on."""
    return t.run(ranks=ranks, n=n, order=order or list(range(ranks)), **numbers)


def sums(t, ranks, n, order=None):
    """The reply, whose parts are right: the part of rank 0, that of rank 1, and so on are the whole sum."""
    data = t.quarters(ranks * n)
    reply = run(t, ranks, n, order, data=data)
    t.equal(reply["out"], [sum(data[i::n]) for i in range(n)], "out of rank 0, of rank 1, and so on", before=1000.0)
    return reply


def gathered(t, ranks, n, order=None):
    parts = t.floats(n)
    reply = run(t, ranks, n, order, parts=parts)
    t.equal(reply["out"], parts * ranks, "out of rank 0, of rank 1, and so on", before=1000.0)
    return reply


@T.test(3, "sums", "part r of the sum is at rank r", hint="Where a sum begins decides where it ends: that of part p begins at rank p + 1.")
def _(t):
    for ranks, n in ((2, 2), (2, 6), (3, 3), (4, 8), (5, 15)):
        sums(t, ranks, n)


@T.test(2, "gather", "all ranks get all parts", hint="A rank's own part goes to its place in out first, and then around.")
def _(t):
    for ranks, n in ((2, 2), (2, 6), (3, 3), (4, 8), (5, 15)):
        gathered(t, ranks, n)


@T.test(3, "any sizes", "numbers that the ranks do not divide, few numbers, and one rank", hint="The first n % size parts have one number more. With one rank its part is all there is.")
def _(t):
    for ranks, n in ((2, 3), (3, 4), (3, 5), (4, 7), (4, 2), (3, 0), (1, 5), (1, 0)):
        sums(t, ranks, n)
        gathered(t, ranks, n)


@T.test(1, "kept", "data stay as they are", hint="What is summed on the way stands in memory of your own.")
def _(t):
    for ranks, n in ((1, 3), (3, 7)):
        data, parts = t.quarters(ranks * n), t.quarters(n)
        t.equal(run(t, ranks, n, data=data)["kept"], data, "data")
        t.equal(run(t, ranks, n, parts=parts)["kept"], parts, "part")


@T.test(3, "bytes", "each number of others goes over a link once: (N - 1) / N of the data", hint="A message has one part, never the whole.")
def _(t):
    for ranks, n in ((2, 8), (3, 9), (4, 16), (7, 21)):
        for reply in (sums(t, ranks, n), gathered(t, ranks, n)):
            t.equal(reply["sent"], [(ranks - 1) * n // ranks * 4] * ranks, "bytes sent by each rank")
            t.at_most(max(reply["messages"]), ranks - 1, "messages of a rank")


@T.test(2, "order of the sums", "the sum of part p begins at rank p + 1", hint="In the first step rank r sends part r - 1 of its own data.")
def _(t):
    # 1e8 + 1 is 1e8 in float32: the sum of 1e8, 1 and -1e8 is 1 where the large numbers meet first, and 0 otherwise.
    big = 1e8
    for by_rank, expected in [([big, 1.0, -big], [0.0, 1.0, 0.0]), ([1.0, big, -big], [1.0, 0.0, 0.0]), ([big, -big, 1.0, 1.0], [0.0, 0.0, 1.0, 2.0])]:
        ranks = len(by_rank)
        data = [value for value in by_rank for _ in range(ranks)]
        for order in (list(range(ranks)), list(reversed(range(ranks)))):
            t.equal(run(t, ranks, ranks, order, data=data)["out"], expected, "out of rank 0, of rank 1, and so on")


@T.test(1, "any order", "whoever is fast", hint="Send before you wait, and let each message have the length of its part.")
def _(t):
    for order in ([3, 2, 1, 0], [2, 0, 3, 1]):
        sums(t, 4, 10, order)
        gathered(t, 4, 10, order)
