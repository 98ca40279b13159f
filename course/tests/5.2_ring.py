"""Tests of task 5.2."""
import math

from judge.testing import task

T = task("5.2", "Ring all-reduce", 30, "5_parallel/5.2_ring.cpp", exports=["course::all_reduce"])


def all_reduce(t, ranks, data, order=None, **turns):
    """data: the numbers of rank 0, then those of rank 1, and so on."""
    reply = t.run(ranks=ranks, data=data, order=order or list(range(ranks)), **turns)
    n = len(data) // ranks
    if ranks > 1:  # a rank needs n numbers from others, or it could not know the sums
        t.check(min(reply["received"]) >= 4 * n, "a rank received less than it needs: data may move by the Link alone")
    return reply


def sums(t, cases):
    for ranks, n in cases:
        data = t.quarters(ranks * n)
        found = all_reduce(t, ranks, data)["data"]
        for rank in range(ranks):
            t.equal(found[rank * n:(rank + 1) * n], [sum(data[i::n]) for i in range(n)], f"data of rank {rank}")


def specials(t, ranks):
    """A NaN or an infinity of one rank is in the sum, wherever the sum is when it comes to this rank."""
    for special in (math.nan, math.inf):
        data = [special if (i + rank) % (ranks + 1) == 0 else 1.0 for rank in range(ranks) for i in range(ranks * (ranks + 1))]
        n = len(data) // ranks
        t.equal(all_reduce(t, ranks, data)["data"], [sum(data[i::n]) for i in range(n)] * ranks, "data of all ranks")


@T.test(4, "two ranks", "two ranks", hint="Each sends one half and gets the other; then the sums are exchanged.")
def _(t):
    sums(t, [(2, 2), (2, 4), (2, 10), (2, 4096)])
    specials(t, 2)


@T.test(4, "more ranks", "three to 40 ranks", hint="Write down which part each rank sends in each step, for three ranks. Nothing limits the number of ranks.")
def _(t):
    sums(t, [(3, 3), (4, 4), (3, 12), (5, 10), (6, 18), (17, 17), (40, 80)])


@T.test(4, "remainder", "numbers that the ranks do not divide", hint="The first n % size parts have one number more; so the parts' beginnings move.")
def _(t):
    sums(t, [(2, 3), (3, 4), (3, 5), (4, 7), (5, 13)])


@T.test(3, "few numbers", "fewer numbers than ranks", hint="Some parts are empty: they are sent and received like others.")
def _(t):
    sums(t, [(2, 1), (3, 2), (4, 1), (5, 3), (3, 0)])


@T.test(2, "alone", "a ring of one rank", hint="One rank has the sum already: there is nobody to talk to.")
def _(t):
    data = t.quarters(5)
    reply = all_reduce(t, 1, data)
    t.equal(reply["data"], data, "data")
    t.equal(reply["messages"], [0], "messages")


@T.test(5, "bytes", "each rank sends 2 (N - 1) / N of its data", hint="Only one part of 1 / N goes over a link in a step, never the whole.")
def _(t):
    for ranks, n in [(2, 8), (3, 9), (4, 16), (7, 21)]:
        reply = all_reduce(t, ranks, t.quarters(ranks * n))
        t.equal(reply["sent"], [2 * (ranks - 1) * n // ranks * 4] * ranks, "bytes sent by each rank")


@T.test(2, "messages", "2 (N - 1) messages", hint="One message in a step: N - 1 steps add, N - 1 hand the sums on. Empty parts are sent like others.")
def _(t):
    for ranks, n in [(2, 2), (4, 8), (5, 15)]:
        t.at_most(max(all_reduce(t, ranks, t.quarters(ranks * n))["messages"]), 2 * (ranks - 1), "messages of a rank")
    for ranks, n in [(3, 1), (5, 2)]:  # some parts are empty
        t.equal(all_reduce(t, ranks, t.quarters(ranks * n))["messages"], [2 * (ranks - 1)] * ranks, "messages of each rank")


@T.test(4, "order of the sums", "the sum of part p begins at rank p", hint="In the first step rank r sends part r: so every sum has its first number from the rank of its own number. The first n % size parts have one number more.")
def _(t):
    # 1e8 + 1 is 1e8 in float32: the sum of 1e8, 1 and -1e8 is 1 where the large numbers meet first, and 0 otherwise.
    big = 1e8
    for by_rank, expected in [([big, 1.0, -big], [0.0, 0.0, 1.0]), ([1.0, big, -big], [0.0, 1.0, 0.0]),
                              ([big, -big, 1.0, 1.0], [2.0, 0.0, 0.0, 1.0])]:
        ranks = len(by_rank)
        data = [value for value in by_rank for _ in range(ranks)]
        t.equal(all_reduce(t, ranks, data)["data"], expected * ranks, "data of all ranks")
        # Where N does not divide n, the sums show where each part begins: the first parts are the longer ones.
        data = [value for value in by_rank for _ in range(ranks + 2)]
        t.equal(all_reduce(t, ranks, data)["data"], [value for i, value in enumerate(expected) for _ in range(1 + (i < 2))] * ranks, "data of all ranks")


@T.test(2, "same bits", "the same bits at all ranks, whoever is fast",
        hint="A sum is made in one place and copied: no rank adds it up for itself. And ranks share no memory: a static variable is one for all of them.")
def _(t):
    ranks, n = 4, 18
    data = t.floats(ranks * n)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        found = all_reduce(t, ranks, data, order)["data"]
        first = found[:n] if order == [0, 1, 2, 3] else first
        t.equal(found, first * ranks, "data of all ranks")
    found = all_reduce(t, ranks, data, turns=1)["data"]
    t.equal(found, first * ranks, "data of all ranks, where a rank that has received gives way to the next one")
