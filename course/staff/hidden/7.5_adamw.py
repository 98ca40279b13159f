"""Hidden tests of task 7.5."""
import math

from judge.testing import hidden


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
