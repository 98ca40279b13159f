"""Tests of task 5.7."""
import math

from judge.testing import task

T = task("5.7", "An optimizer in parts", 15, "5_parallel/5.7_sharded_adam.cpp", exports=["course::ShardedAdam::ShardedAdam", "course::ShardedAdam::step"], extra=True)

BLOCK = 64  # bytes that a block of memory may have beside its numbers


def run(t, ranks, w, gradients, order=None, lr=0.5, beta1=0.5, beta2=0.75, epsilon=0.0):
    """gradients: of the first step those of rank 0, of rank 1, and so on; then those of the next step."""
    n = len(w)
    steps = len(gradients) // (ranks * n) if n else 3
    return t.run(ranks=ranks, n=n, steps=steps, w=w, gradients=gradients, order=order or list(range(ranks)), lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon)


def split(t, ranks, means):
    """Gradients of `ranks` ranks with these means."""
    others = [t.quarters(len(means)) for _ in range(ranks - 1)]
    return [value for each in others for value in each] + [ranks * mean - sum(column) for mean, *column in zip(means, *others)]


def steps(t, ranks, w, means, expected, order=None, **numbers):
    """Steps whose gradients have these means, a list for each step, leave these weights at every rank."""
    reply = run(t, ranks, w, [value for each in means for value in split(t, ranks, each)], order, **numbers)
    t.close(reply["w"], expected * ranks, "weights of rank 0, of rank 1, and so on")
    return reply


def alike(t, ranks, n, count=3, order=None):
    """Ranks get the weights that one rank gets from the means of their gradients."""
    w, means = t.quarters(n), [t.quarters(n) for _ in range(count)]
    alone = run(t, 1, w, [value for each in means for value in each], epsilon=1e-8)["w"]
    return steps(t, ranks, w, means, alone, order, epsilon=1e-8)


def moves(t, ranks, n, order=None):
    """At step 1 each weight moves by lr against the sign of its mean: each number has a sign of its own."""
    w, means = t.quarters(n), [t.random.choice((-1, 1)) * t.random.randint(1, 8) / 4 for _ in range(n)]
    return steps(t, ranks, w, [means], [each - math.copysign(0.5, mean) for each, mean in zip(w, means)], order, beta1=0.25)


def specials(t, ranks, n):
    """A mean that is NaN or infinite makes its weight NaN, and no other."""
    bad = [(2.0, math.nan, math.inf)[i % 3] for i in range(n)]
    gradients = [bad[i] if i % ranks == rank else 2.0 for rank in range(ranks) for i in range(n)] + [2.0] * (ranks * n)
    found = run(t, ranks, [1.0] * n, gradients, epsilon=1.0)["w"]
    t.close(found, [math.nan if i % 3 else 1 / 3 for i in range(n)] * ranks, "weights of rank 0, of rank 1, and so on after two steps")


@T.test(2, "first step", "both moments are corrected: at step 1 a weight moves by lr", hint="Each weight belongs to the part of one rank: it moves there, and all_gather takes it to the others.")
def _(t):
    steps(t, 1, [1.0], [[2.0]], [0.5])
    for ranks, n in ((1, 3), (2, 2), (2, 6), (3, 9), (4, 8)):
        moves(t, ranks, n)


@T.test(3, "later steps", "the moments go on, and the step counts from 1", hint="The powers of both betas take the number of the step. The moments stay in the object. Nothing that is NaN is left out.")
def _(t):
    for ranks in (1, 2, 3):
        n = 2 * ranks
        steps(t, ranks, [1.0] * n, [[2.0] * n] * 3, [-0.5] * n)  # as long as the gradient stays, each step is as long
        steps(t, ranks, [1.0] * n, [[2.0] * n, [-2.0] * n], [0.5 + 1 / 6] * n)
        steps(t, ranks, [1.0] * n, [[2.0] * n, [0.0] * n], [0.5 - 1 / 6 / math.sqrt(3 / 7)] * n, beta2=0.75)
        steps(t, ranks, [1.0] * n, [[2.0] * n] * 2, [0.0] * n, beta1=0.25, beta2=0.9999)
    for ranks in (2, 4):
        alike(t, ranks, 3 * ranks)
    for ranks in (1, 2):
        specials(t, ranks, 6)


@T.test(1, "mean", "the mean of the ranks' gradients, not their sum", hint="Adam hides a factor of the gradient, as long as epsilon is small: divide by the number of ranks all the same.")
def _(t):
    for ranks in (1, 2, 3, 4):
        steps(t, ranks, [1.0] * 12, [[2.0] * 12], [0.75] * 12, epsilon=2.0)


@T.test(2, "any sizes", "numbers that the ranks do not divide, few numbers, and none", hint="The first n % size parts have one number more, and a part may be empty: its rank calls what the others call.")
def _(t):
    for ranks, n in ((1, 0), (1, 1), (2, 3), (3, 4), (3, 5), (4, 7), (4, 2), (3, 0)):
        moves(t, ranks, n)
        alike(t, ranks, n)


@T.test(1, "any order", "gradients stay as they are, whoever is fast", hint="gradient is read only: what is summed stands in memory of your own.")
def _(t):
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        gradients = t.quarters(4 * 10 * 2)
        t.equal(run(t, 4, t.quarters(10), gradients, order, epsilon=1.0)["kept"], gradients, "gradients")
        alike(t, 4, 10, order=order)


def counted(t, ranks, n, count=3):
    return run(t, ranks, t.quarters(n), t.quarters(ranks * n * count), epsilon=1.0)


@T.test(2, "bytes", "a step sends 2 (N - 1) / N of n numbers, as an all-reduce", hint="The rank needs the sums of its part alone: that is what reduce_scatter gives it. all_reduce sends twice as much.")
def _(t):
    for ranks, n in ((1, 6), (2, 8), (3, 9), (4, 16), (7, 21)):
        reply = counted(t, ranks, n)
        t.at_most(max(reply["sent"]), 3 * 2 * (ranks - 1) * n // ranks * 4, "bytes that a rank sends in three steps")
        t.at_most(max(reply["calls"]), 3 * 2, "calls of a rank's group in three steps")


@T.test(3, "state", "between steps a rank holds the moments of its part alone", hint="The moments of other parts are never used here: make room for length_ numbers.")
def _(t):
    for ranks, n in ((1, 500), (2, 1000), (4, 1600), (8, 8000)):
        t.at_most(max(counted(t, ranks, n)["held"]), 2 * (n // ranks * 4 + BLOCK), "bytes that a rank holds after a step")


@T.test(1, "memory", "a step holds two parts beside the moments, at most", hint="The weights of your part move in their place, and all_gather takes them from there. Nothing needs n numbers.")
def _(t):
    for ranks, n in ((4, 1600), (8, 8000)):
        t.at_most(max(counted(t, ranks, n)["most"]), 4 * (n // ranks * 4 + BLOCK), "bytes that a rank holds in a step")
