"""Tests of task 7.5."""
from judge.testing import task

T = task("7.5", "A step of AdamW", 15, "7_transformer/7.5_adamw.cu", exports=["course::gpu::adamw_step"], extra=True)


def step(t, sizes, w, g, lr, beta1=0.5, beta2=0.75, epsilon=0.0, weight_decay=0.0):
    """One step for each number of lr; g holds the gradients of each step, one after the other."""
    return t.run(sizes=sizes, w=w, g=g, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay)


@T.test(3, "first step", "the moments begin at 0, and a first step moves by lr",
        hint="What the moments' memory held before does not count; dividing by 1 - beta makes up for the 0.")
def _(t):
    reply = step(t, [2], [1.0, 2.0], [2.0, -4.0], [0.5])
    t.close(reply["first"], [1.0, -2.0], "first moments")
    t.close(reply["second"], [1.0, 4.0], "second moments")
    t.close(reply["w"], [0.5, 2.5], "weights")


@T.test(3, "later steps", "the correction fades from step to step", hint="Divide by 1 - beta^step, with the number of this step.")
def _(t):
    reply = step(t, [1], [10.0], [4.0] * 4, [0.5] * 4)
    t.close(reply["w"], [8.0], "weight: under a gradient that stays, each step moves by lr")
    t.close(reply["first"], [3.75], "first moment")
    t.close(reply["second"], [10.9375], "second moment")
    reply = step(t, [1], [0.0], [1.0, 0.0], [1.0, 1.0])
    t.close(reply["w"], [-1 - (0.25 / 0.75) / (0.1875 / 0.4375) ** 0.5], "weight")
    reply = step(t, [1], [0.0], [4.0, 4.0], [1.0, 1.0], beta2=0.9999)  # a power in float is wrong by 1.3e-5 here
    t.close(reply["w"], [-2.0], "weight (1 - beta2^2 is 0.0002 here, of which a power of floats keeps few digits)", 4e-6)
    reply = step(t, [1], [0.0], [4.0] * 3, [1.0] * 3, beta1=0.9999)
    t.close(reply["w"], [-3.0], "weight (1 - beta1^2 is 0.0002 here, of which a power of floats keeps few digits)", 4e-6)


@T.test(3, "weight decay", "weights shrink by themselves, whatever the gradient",
        hint="Weight decay is no part of the gradient: it never enters the moments.")
def _(t):
    reply = step(t, [2], [8.0, -4.0], [0.0, 0.0], [0.5], epsilon=1.0, weight_decay=0.25)
    t.close(reply["w"], [7.0, -3.5], "weights")
    t.close(reply["first"], [0.0, 0.0], "first moments")
    t.close(step(t, [1], [8.0], [2.0], [0.5], weight_decay=0.25)["w"], [6.5], "weight")


@T.test(2, "epsilon", "epsilon stands beside the root", hint="sqrt(v) + epsilon, after v was corrected.")
def _(t):
    t.close(step(t, [1], [1.0], [3.0], [1.0], epsilon=1.0)["w"], [0.25], "weight")
    t.close(step(t, [1], [1.0], [0.0], [1.0], epsilon=0.5)["w"], [1.0], "weight")


@T.test(2, "sizes", "parameters of all sizes", hint="The grid must suit the longest parameter; threads past the end of a shorter one do nothing.")
def _(t):
    for sizes in [[0], [0, 5], [256, 1], [3, 700, 0, 70], [1 + i for i in range(32)], [], [20000, 1]]:
        w = t.quarters(sum(sizes))
        g = [each or 1.0 for each in t.quarters(sum(sizes))]
        t.close(step(t, sizes, w, g, [0.5])["w"], [a - (0.5 if b > 0 else -0.5) for a, b in zip(w, g)], "weights")


@T.test(1, "one launch", "a step is one launch", hint="The table of pointers is an argument of the kernel.")
def _(t):
    for sizes in [[5], [300, 4, 20], [3] * 32]:
        n = sum(sizes)
        launches = step(t, sizes, t.quarters(n), [1.0] * (2 * n), [0.5, 0.5]).launches
        if not t.on_gpu:
            t.equal(len(launches), 2, "launches of two steps")


@T.test(1, "memory", "each number is loaded and stored once", hint="Keep what you have loaded in a variable.")
def _(t):
    n = 512 + 64
    for launch in step(t, [512, 64], t.quarters(n), [1.0] * (2 * n), [0.5, 0.5], weight_decay=0.5).launches:
        t.at_most(launch.global_loads, 4 * n, "loads from global memory")
        t.at_most(launch.global_stores, 3 * n, "stores to global memory")
