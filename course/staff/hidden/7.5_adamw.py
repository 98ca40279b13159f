"""Hidden tests of task 7.5."""
import math

from judge.testing import hidden, public


@hidden("7.5", of="later steps", test="random steps", title="random gradients, rates and moments over 12 steps",
        hint="Try the usual numbers: beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight decay 0.01.")
def _(t):
    for beta1, beta2, epsilon, decay, sizes in [(0.9, 0.999, 1e-8, 0.01, [5, 2]), (0.5, 0.75, 0.125, 0.25, [1, 3]), (0.0, 0.5, 0.5, 0.0, [300, 1])]:
        n = sum(sizes)
        w, g, rates = t.floats(n, -3, 3), t.floats(12 * n), t.floats(12, 0.01, 0.5)
        expected, first, second = list(w), [0.0] * n, [0.0] * n
        for step, lr in enumerate(rates, 1):
            for i in range(n):
                each = g[(step - 1) * n + i]
                first[i] = beta1 * first[i] + (1 - beta1) * each
                second[i] = beta2 * second[i] + (1 - beta2) * each * each
                expected[i] -= lr * decay * expected[i]
                expected[i] -= lr * (first[i] / (1 - beta1 ** step)) / (math.sqrt(second[i] / (1 - beta2 ** step)) + epsilon)
        found = t.run(sizes=sizes, w=w, g=g, lr=rates, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay)
        t.close(found["w"], expected, "weights", 1e-3)
        t.close(found["first"], first, "first moments")
        t.close(found["second"], second, "second moments")


@hidden("7.5", of="sizes", test="long parameters", title="a parameter of 70,000 beside one of 3", hint="A grid has at most 65,535 blocks along y, and 2^31 - 1 along x.")
def _(t):
    sizes = [3, 70001]
    found = t.run(sizes=sizes, w=[1.0] * 70004, g=[2.0] * 70004, lr=[0.5], beta1=0.5, beta2=0.75, epsilon=0.0, weight_decay=0.0)
    t.close(found["w"], [0.5] * 70004, "weights")
    if not t.on_gpu:
        t.at_most(len(found.launches), 1, "launches")


@hidden("7.5", of="later steps", test="resumed", title="a training that goes on at step 4", hint="The step is an argument: count no calls of your own.")
def _(t):
    for begin in (4, 1):
        found = t.run(begin=begin, sizes=[1, 1], w=[1.0, 2.0], g=[2.0, 0.0], lr=[0.5], first_moments=[1.5, 0.75], second_moments=[3.0, 1.5], beta1=0.5, beta2=0.75,
                      epsilon=0.0, weight_decay=0.0)
        if begin == 4:  # moments 1.75 0.375 and 3.25 1.125, corrections 0.9375 and 0.68359375
            expected = [1 - 0.5 * (1.75 / 0.9375) / math.sqrt(3.25 / 0.68359375), 2 - 0.5 * (0.375 / 0.9375) / math.sqrt(1.125 / 0.68359375)]
            t.close(found["w"], expected, "weights")
        else:  # a first step: the moments count as 0
            t.close(found["w"][:1], [0.5], "weight")


def moved(w, g, lr, beta1, beta2, epsilon, decay):
    """The weight after steps with these gradients."""
    first = second = 0.0
    for step, each in enumerate(g, 1):
        first, second = beta1 * first + (1 - beta1) * each, beta2 * second + (1 - beta2) * each * each
        w -= lr * decay * w
        w -= lr * (first / (1 - beta1 ** step)) / (math.sqrt(second / (1 - beta2 ** step)) + epsilon)
    return w


@hidden("7.5", of="first step", test="random first steps", title="a first step under random gradients and rates", hint="What the moments' memory held before does not count.")
def _(t):
    for _ in range(3):
        w, g, lr = t.floats(70, -3, 3), [each or 1.0 for each in t.quarters(70)], t.random.uniform(0.01, 2)
        found = public("7.5").step(t, [69, 1], w, g, [lr])
        t.close(found["w"], [a - (lr if b > 0 else -lr) for a, b in zip(w, g)], "weights")
        t.close(found["first"], [each / 2 for each in g], "first moments")


@hidden("7.5", of="weight decay", test="random decay", title="weights that shrink, whatever the gradient", hint="Weight decay is no part of the gradient.")
def _(t):
    w, decay = t.floats(40, -3, 3), t.random.uniform(0.01, 0.9)
    found = public("7.5").step(t, [40], w, [0.0] * 80, [0.5, 0.25], epsilon=1.0, weight_decay=decay)
    t.close(found["w"], [each * (1 - 0.5 * decay) * (1 - 0.25 * decay) for each in w], "weights")
    t.equal(found["first"], [0.0] * 40, "first moments")


@hidden("7.5", of="epsilon", test="random epsilon", title="other numbers of epsilon", hint="sqrt(v) + epsilon, after v was corrected.")
def _(t):
    for _ in range(4):
        epsilon, g = t.random.uniform(0.01, 3), t.floats(2, 0.5, 3)
        found = public("7.5").step(t, [1], [1.0], g, [0.5, 0.5], epsilon=epsilon)["w"]
        t.close(found, [moved(1.0, g, 0.5, 0.5, 0.75, epsilon, 0.0)], "weight")


@hidden("7.5", of="later steps", test="late steps", title="a training that goes on at step 1000, 3000, 100,000 and 2^32 + 1", hint="The correction lasts: 0.999^1000 is still 0.37. A step is a long.")
def _(t):
    for begin in (1000, 3000, 100000, 2 ** 32 + 1):
        found = t.run(begin=begin, sizes=[1], w=[1.0], g=[2.0], lr=[0.5], first_moments=[1.5], second_moments=[3.0], beta1=0.9, beta2=0.999,
                      epsilon=0.0, weight_decay=0.0)["w"]
        first, second = 0.9 * 1.5 + 0.1 * 2.0, 0.999 * 3.0 + 0.001 * 4.0
        t.close(found, [1 - 0.5 * (first / (1 - 0.9 ** begin)) / math.sqrt(second / (1 - 0.999 ** begin))], f"weight after step {begin}", 1e-4)


@hidden("7.5", of="one launch", test="one launch of other sizes", title="a step is one launch, of 17 parameters", hint="The table of pointers is an argument of the kernel.")
def _(t):
    sizes = [40 * i + 1 for i in range(17)]
    reply = public("7.5").step(t, sizes, t.quarters(sum(sizes)), [1.0] * (3 * sum(sizes)), [0.5] * 3)
    if not t.on_gpu:
        t.equal(len(reply.launches), 3, "launches of three steps")


@hidden("7.5", of="memory", test="memory of other sizes", title="each number is loaded and stored once, of 900 and 30", hint="Keep what you have loaded in a variable.")
def _(t):
    for launch in public("7.5").step(t, [900, 30], t.quarters(930), [1.0] * 1860, [0.5, 0.5], weight_decay=0.25).launches:
        t.at_most(launch.global_loads, 4 * 930, "loads from global memory")
        t.at_most(launch.global_stores, 3 * 930, "stores to global memory")
