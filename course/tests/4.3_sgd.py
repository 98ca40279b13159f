"""Tests of task 4.3."""
from judge.testing import task

T = task("4.3", "A step of SGD in one launch", 25, "4_training/4.3_sgd.cu", exports=["course::gpu::sgd_step"])


def step(t, sizes, w, g, lr, momentum=0.0, weight_decay=0.0, **more):
    """One step for each number of lr, all with the gradients g, or g has those of each step, one after the other."""
    return t.run(sizes=sizes, w=w, g=g, lr=lr, momentum=momentum, weight_decay=weight_decay, **more)


def queued(t, sizes):
    """Parameters so large that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=sizes)


@T.test(3, "plain", "without momentum and weight decay", hint="weight = weight - lr * gradient; there is no velocity to touch.")
def _(t):
    for sizes, w, g, lr, expected in [([1], [1.0], [1.0], [0.5], [0.5]), ([2], [1.0, 2.0], [4.0, -8.0], [0.25], [0.0, 4.0]),
                                      ([3, 1], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, -1.0, -2.0], [1.0, 1.0], [-1.0, -2.0, 5.0, 8.0])]:
        t.equal(step(t, sizes, w, g, lr)["w"], expected, "weights")


@T.test(3, "weight decay", "weights shrink by their own size", hint="Weight decay adds to the gradient before anything else is done.")
def _(t):
    t.equal(step(t, [3], [4.0, -8.0, 2.0], [0.0, 0.0, 1.0], [0.5], weight_decay=0.5)["w"], [3.0, -6.0, 1.0], "weights")
    t.equal(step(t, [1], [8.0], [1.0], [0.5, 0.5], weight_decay=0.25)["w"], [5.1875], "weights after two steps")


@T.test(4, "first step", "at the first step the velocity is the gradient",
        hint="The velocity's memory holds nothing at the first step: do not read it, and damp nothing.")
def _(t):
    reply = step(t, [2], [1.0, 2.0], [2.0, -4.0], [0.5], momentum=0.75)
    t.equal(reply["v"], [2.0, -4.0], "velocities")
    t.equal(reply["w"], [0.0, 4.0], "weights")
    reply = step(t, [2], [1.0, 2.0], [0.0, 1.0], [0.5], momentum=0.75)
    t.equal((reply["v"], reply["w"]), ([0.0, 1.0], [1.0, 1.5]), "velocities and weights, where a gradient is 0")


@T.test(3, "momentum", "steps with momentum", hint="velocity = momentum * velocity + d, and the weight moves by lr * velocity.")
def _(t):
    reply = step(t, [1], [0.0], [1.0], [1.0] * 3, momentum=0.5)
    t.equal(reply["v"], [1.75], "velocity")
    t.equal(reply["w"], [-4.25], "weight")
    reply = step(t, [2], [0.0, 0.0], [1.0, 0.0, 0.0, 2.0], [1.0] * 2, momentum=0.5)
    t.equal((reply["v"], reply["w"]), ([0.5, 2.0], [-1.5, -2.0]), "velocities and weights, where the gradients are 1 and 0, and 0 and 2")


@T.test(2, "momentum and decay", "both at once", hint="The velocity collects gradients to which weight decay was added.")
def _(t):
    reply = step(t, [1], [4.0], [1.0], [0.5, 0.5], momentum=0.5, weight_decay=0.5)
    t.equal(reply["v"], [3.75], "velocity")
    t.equal(reply["w"], [0.625], "weight")
    reply = step(t, [1], [4.0], [1.0, 0.0], [0.5, 0.5], momentum=0.5, weight_decay=0.5)
    t.equal((reply["v"], reply["w"]), ([2.75], [1.125]), "velocity and weight, where the second gradient is 0")


@T.test(2, "other rate", "a learning rate that changes",
        hint="The velocity knows nothing of the learning rate: a new rate counts in full from its first step.")
def _(t):
    reply = step(t, [1], [0.0], [1.0], [1.0, 0.5], momentum=0.5)
    t.equal(reply["v"], [1.5], "velocity")
    t.equal(reply["w"], [-1.75], "weight")
    reply = step(t, [1], [0.0], [1.0], [0.0, 1.0], momentum=0.5)
    t.equal((reply["v"], reply["w"]), ([1.5], [-1.5]), "velocity and weight, where the first rate is 0")


@T.test(3, "sizes", "parameters of all sizes; a grid for 2^31 numbers",
        hint="The grid must suit the longest parameter; threads past the end of a shorter one do nothing. "
             "A grid has at most 65,535 blocks along y and z, and 2^31 - 1 along x.")
def _(t):
    for sizes in [[0], [0, 5], [256, 1], [1, 257], [3, 1000, 0, 70], [1 + i for i in range(32)], [20000, 3], []]:
        w, g = t.quarters(sum(sizes)), t.quarters(sum(sizes))
        for shift in (0, 1):  # numbers between the beginning of a parameter's memory and its own
            reply = step(t, sizes, w, g, [0.5], shift=shift)
            t.equal(reply["w"], [a - b / 2 for a, b in zip(w, g)], "weights")
            t.equal(reply["others"], [1.0, 2.0, 3.0], "weights of an entry of the list behind params.count")
    for sizes in ([2 ** 24 + 1], [7, 2 ** 31 + 1000]):
        queued(t, sizes)


@T.test(3, "one launch", "a step is one launch", hint="The table of pointers is an argument of the kernel; the grid has room for all parameters.")
def _(t):
    for sizes in [[5], [300, 4, 20], [3] * 32]:
        n = sum(sizes)
        launches = step(t, sizes, t.quarters(n), t.quarters(n), [0.5, 0.5], momentum=0.5).launches
        if not t.on_gpu:
            t.equal(len(launches), 2, "launches of two steps")


@T.test(2, "memory", "each number is loaded and stored once",
        hint="Keep what you have loaded in a variable; without momentum leave the velocity alone.")
def _(t):
    sizes = [512, 256, 64]
    n = sum(sizes)
    for momentum, loads, stores in [(0.0, 2 * n, n), (0.5, 3 * n, 2 * n)]:
        for launch in step(t, sizes, t.quarters(n), t.quarters(n), [0.5, 0.5], momentum, 0.5).launches:
            t.at_most(launch.global_loads, loads, "loads from global memory")
            t.at_most(launch.global_stores, stores, "stores to global memory")
