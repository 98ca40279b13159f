"""Tests of task 5.6."""
import math

from judge.testing import task

T = task("5.6", "Reduce-scatter and all-gather", 15, "5_parallel/5.6_scatter_sums.cpp", exports=["course::reduce_scatter", "course::all_gather"], extra=True)


def run(t, ranks, n, order=None, **numbers):
    """data: the numbers of rank 0, then those of rank 1, and so on; or parts: part 0, part 1, and so on."""
    return t.run(ranks=ranks, n=n, order=order or list(range(ranks)), **numbers)


def sums(t, ranks, n, order=None, data=None, **turns):
    """The reply, whose parts are right: the part of rank 0, that of rank 1, and so on are the whole sum."""
    data = data or t.quarters(ranks * n)
    reply = run(t, ranks, n, order, data=data, **turns)
    t.equal(reply["out"], [sum(data[i::n]) for i in range(n)], "out of rank 0, of rank 1, and so on", before=1000.0)
    return reply


def gathered(t, ranks, n, order=None, parts=None, **turns):
    parts = parts or t.floats(n)
    reply = run(t, ranks, n, order, parts=parts, **turns)
    t.equal(reply["out"], parts * ranks, "out of rank 0, of rank 1, and so on", before=1000.0)
    return reply


def special_sums(t, ranks):
    """A NaN or an infinity of one rank is in the sum, wherever the sum is when it comes to this rank."""
    n = ranks * (ranks + 1)
    for special in (math.nan, math.inf):
        sums(t, ranks, n, data=[special if (i + rank) % (ranks + 1) == 0 else 1.0 for rank in range(ranks) for i in range(n)])


@T.test(3, "sums", "part r of the sum is at rank r", hint="Where a sum begins decides where it ends: that of part p begins at rank p + 1.")
def _(t):
    for ranks, n in ((2, 2), (2, 6), (3, 3), (4, 8), (5, 15)):
        sums(t, ranks, n)
    special_sums(t, 2)


@T.test(2, "gather", "all ranks get all parts", hint="A rank's own part goes to its place in out first, and then around.")
def _(t):
    for ranks, n in ((2, 2), (2, 6), (3, 3), (4, 8), (5, 15)):
        gathered(t, ranks, n)
    gathered(t, 2, 4, parts=[math.nan, 1.0, math.inf, -math.inf])


@T.test(3, "any sizes", "numbers that the ranks do not divide, few numbers, one rank, and many", hint="The first n % size parts have one number more. With one rank its part is all there is.")
def _(t):
    for ranks, n in ((2, 3), (3, 4), (3, 5), (4, 7), (4, 2), (3, 0), (1, 5), (1, 0), (17, 17), (40, 101)):
        sums(t, ranks, n)
        gathered(t, ranks, n)


@T.test(1, "kept", "data stay as they are", hint="What is summed on the way stands in memory of your own.")
def _(t):
    for ranks, n in ((1, 3), (3, 7), (3, 40)):
        data, parts = t.floats(ranks * n), t.floats(n)  # what is added to them and subtracted again leaves other bits
        t.equal(run(t, ranks, n, data=data)["kept"], data, "data")
        t.equal(run(t, ranks, n, parts=parts)["kept"], parts, "part")


@T.test(3, "bytes", "each number of others goes over a link once: (N - 1) / N of the data", hint="A message has one part, never the whole. Empty parts are sent like others.")
def _(t):
    for ranks, n in ((2, 8), (3, 9), (4, 16), (7, 21)):
        for reply in (sums(t, ranks, n), gathered(t, ranks, n)):
            t.equal(reply["sent"], [(ranks - 1) * n // ranks * 4] * ranks, "bytes sent by each rank")
            t.at_most(max(reply["messages"]), ranks - 1, "messages of a rank")
    for ranks, n in ((3, 1), (5, 2)):  # some parts are empty
        for reply in (sums(t, ranks, n), gathered(t, ranks, n)):
            t.equal(reply["messages"], [ranks - 1] * ranks, "messages of each rank")


@T.test(2, "order of the sums", "the sum of part p begins at rank p + 1", hint="In the first step rank r sends part r - 1 of its own data.")
def _(t):
    # 1e8 + 1 is 1e8 in float32: the sum of 1e8, 1 and -1e8 is 1 where the large numbers meet first, and 0 otherwise.
    big = 1e8
    for by_rank, expected in [([big, 1.0, -big], [0.0, 1.0, 0.0]), ([1.0, big, -big], [1.0, 0.0, 0.0]), ([big, -big, 1.0, 1.0], [0.0, 0.0, 1.0, 2.0])]:
        ranks = len(by_rank)
        data = [value for value in by_rank for _ in range(ranks)]
        for order in (list(range(ranks)), list(reversed(range(ranks)))):
            t.equal(run(t, ranks, ranks, order, data=data)["out"], expected, "out of rank 0, of rank 1, and so on")


@T.test(1, "any order", "whoever is fast", hint="Send before you wait, and let each message have the length of its part. Ranks share no memory: a static variable is one for all of them.")
def _(t):
    for order in ([3, 2, 1, 0], [2, 0, 3, 1]):
        for turns in ({}, {"turns": 1}):  # with turns a rank that has received gives way to the next one
            sums(t, 4, 10, order, **turns)
            gathered(t, 4, 10, order, **turns)
