"""Hidden tests of task 5.7."""
import math

from judge.testing import hidden, public


@hidden("5.7", of="first step", test="first step of others", title="nine ranks and many numbers", hint="At step 1 a weight moves by lr, against the sign of its gradient.")
def _(t):
    for ranks, n in ((5, 10), (9, 5004), (2, 2502), (2, 2 * t.random.randint(1, 300))):
        public("5.7").moves(t, ranks, n)


@hidden("5.7", of="later steps", test="other later steps", title="twelve steps of six ranks", hint="Each step changes both moments, and the powers of both betas.")
def _(t):
    steps = public("5.7").steps
    for ranks in (1, 6):
        n = 3 * ranks
        steps(t, ranks, [2.0] * n, [[-0.5] * n] * 12, [8.0] * n)
        # beta1 = 0, so that the gradient is the first moment: of 3 and then 1 the second moment is 9 / 4 + 1 / 2 at beta2 = 0.5
        steps(t, ranks, [2.0] * n, [[3.0] * n, [1.0] * n], [1.5 - 0.5 / math.sqrt(2.75 / 0.75)] * n, beta1=0.0, beta2=0.5)
    for ranks in (5, 8):
        public("5.7").alike(t, ranks, 2 * ranks, 5)


@hidden("5.7", of="later steps", test="NaN of others", title="NaN and infinity at one of several ranks", hint="The formulas, whatever the mean is.")
def _(t):
    for ranks in (3, 5):
        public("5.7").specials(t, ranks, 4 * ranks)


@hidden("5.7", of="any sizes", test="more numbers than an int counts", title="more numbers than an int counts", hint="n is a long, and so are places.")
def _(t):
    ranks, n = 1024, 2**31 + 2**24 + 1024
    places, w = [n - n // ranks, n - n // ranks // 2, n - 1], [1.0, 2.0, 3.0]
    reply = t.run(ranks=ranks, huge=n, places=places, marks=w, lr=0.5, beta1=0.5, beta2=0.75, epsilon=0.0)
    if reply["full"] == [1]:
        return  # it wants a copy of all numbers, for which there is no memory
    t.close(reply["w"], [each - 0.5 for each in w], "the first, the middle and the last weight of the part of rank 1023")


@hidden("5.7", of="mean", test="mean of others", title="the mean of five and nine ranks", hint="Divide the sum by the number of ranks.")
def _(t):
    for ranks, mean in ((5, 3.0), (9, 1.5)):
        public("5.7").steps(t, ranks, [1.0] * 18, [[mean] * 18], [1 - 0.5 * mean / (mean + 0.5)] * 18, epsilon=0.5)


@hidden("5.7", of="any sizes", test="random sizes", title="random sizes", hint="Try 8 ranks and 100 numbers, or 3.")
def _(t):
    for _ in range(8):
        ranks, n = t.random.randint(1, 12), t.random.randint(0, 120)
        public("5.7").moves(t, ranks, n)
        public("5.7").alike(t, ranks, n)
    public("5.7").moves(t, 11, 4)
    for ranks, n in ((40, 101), (130, 140)):
        public("5.7").moves(t, ranks, n)


@hidden("5.7", of="any order", test="other orders", title="whoever is fast of seven ranks", hint="gradient is read only.")
def _(t):
    for _ in range(3):
        order, gradients = t.random.sample(range(7), 7), t.quarters(7 * 20)
        t.equal(public("5.7").run(t, 7, t.quarters(20), gradients, order, epsilon=1.0)["kept"], gradients, "gradients")
        public("5.7").alike(t, 7, 20, order=order)


@hidden("5.7", of="bytes", test="bytes of random sizes", title="bytes of all ranks together", hint="One reduce_scatter, and one all_gather.")
def _(t):
    for ranks, n in ((5, 13), (9, 4), (3, 0), (t.random.randint(2, 9), t.random.randint(1, 50))):
        reply = public("5.7").counted(t, ranks, n)
        t.at_most(sum(reply["sent"]), 3 * 2 * (ranks - 1) * n * 4, "bytes that all ranks send in three steps")
        t.at_most(max(reply["calls"]), 3 * 2, "calls of a rank's group in three steps")


@hidden("5.7", of="state", test="state of others", title="moments of five and six ranks", hint="Make room for the numbers of your part.")
def _(t):
    for ranks, n in ((6, 3000), (5, 250 * t.random.randint(4, 20))):
        t.at_most(max(public("5.7").counted(t, ranks, n, 2)["held"]), 2 * (n // ranks * 4 + public("5.7").BLOCK), "bytes that a rank holds after a step")


@hidden("5.7", of="memory", test="memory of others", title="memory of five and six ranks", hint="Nothing needs n numbers.")
def _(t):
    for ranks, n in ((6, 3000), (5, 250 * t.random.randint(4, 20))):
        t.at_most(max(public("5.7").counted(t, ranks, n, 2)["most"]), 4 * (n // ranks * 4 + public("5.7").BLOCK), "bytes that a rank holds in a step")
