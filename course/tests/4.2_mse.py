"""Tests of task 4.2."""
import math

from judge.testing import task

T = task("4.2", "Mean squared error in one launch", 20, "4_training/4.2_mse.cu", exports=["course::gpu::mse"])

# Differences 0, 1, -2, 3, -4 ...: the mean of their squares is (n - 1)(2n - 1) / 6.
LARGER = [255, 256, 257, 511, 700]


def mse(t, y, target, wants_gradient=1, **more):
    return t.run(y=y, target=target, wants_gradient=wants_gradient, **more)


def not_finite(t, loss):
    """Where a number is infinite; a sum that keeps what rounding takes makes NaN of it."""
    t.check(not math.isfinite(loss), f"loss where a number is infinite: found {loss:g}, expected infinity or NaN")


def growing(t, n):
    target = t.quarters(n)
    return [target[i] + (i if i % 2 else -i) for i in range(n)], target


def shifted_loss(t, n, shift):
    """y and target begin so many numbers behind the beginning of their memory, as a batch within the data does."""
    y, target = growing(t, n)
    t.close(mse(t, y, target, shift=[*shift, 0])["loss"][0], (n - 1) * (2 * n - 1) / 6, f"loss for n = {n}")


def shifted_gradient(t, n, shift):
    """The gradient begins so, too."""
    y, target = growing(t, n)
    reply = mse(t, y, target, shift=shift)
    t.close(reply["gradient"], [(2 if i % 2 else -2) * i / n for i in range(n)], f"gradient for n = {n}")
    t.equal(reply["before the gradient"], [math.nan] * shift[2], "numbers before the gradient's first, which nobody wrote,")


@T.test(3, "loss of few", "the loss of a few numbers", hint="Square the differences, add them up, divide by how many there are.")
def _(t):
    for y, target, loss in [([3.0], [1.0], 4.0), ([1.0, 2.0], [1.0, 2.0], 0.0), ([0.0, 4.0], [2.0, 0.0], 10.0),
                            ([1.0, 2.0, 3.0], [2.0, 4.0, 1.0], 3.0), ([-1.0, 1.0, 0.5, 0.0], [1.0, -1.0, 0.0, 0.5], 2.125),
                            ([2000.25, -3000.5], [2000.0, -3000.0], 0.15625), ([1.0, math.nan, 2.0], [0.0, 1.0, 2.0], math.nan)]:
        t.close(mse(t, y, target)["loss"][0], loss, "loss")
    not_finite(t, mse(t, [1.0, 2.0], [math.inf, 2.0])["loss"][0])


@T.test(3, "gradient of few", "the gradient for a few numbers",
        hint="By how much does the mean change where y[i] grows a little? The square gives a factor, the mean another.")
def _(t):
    for y, target, gradient in [([3.0], [1.0], [4.0]), ([0.0, 4.0], [2.0, 0.0], [-2.0, 4.0]),
                                ([-1.0, 1.0, 0.5, 0.0], [1.0, -1.0, 0.0, 0.5], [-1.0, 1.0, 0.25, -0.25])]:
        t.close(mse(t, y, target)["gradient"], gradient, "gradient")


@T.test(3, "loss of many", "more numbers than a block has threads",
        hint="A thread takes every blockDim.x-th element; then the block adds up the sums of its threads.")
def _(t):
    for n in LARGER:
        y, target = growing(t, n)
        t.close(mse(t, y, target)["loss"][0], (n - 1) * (2 * n - 1) / 6, f"loss for n = {n}")
    for shift in ([1, 1], [0, 1], [1, 0]):
        shifted_loss(t, 512, shift)


@T.test(2, "gradient of many", "every element gets its gradient, and its own", hint="Store gradient[i] in the loop that reads y[i].")
def _(t):
    for n in LARGER:
        y, target = growing(t, n)
        t.close(mse(t, y, target)["gradient"], [(2 if i % 2 else -2) * i / n for i in range(n)], f"gradient for n = {n}")
    for shift in ([1, 1, 1], [0, 1, 0], [0, 0, 1]):
        shifted_gradient(t, 512, shift)


@T.test(3, "one launch", "one launch without atomics does both",
        hint="The sum of the squares and the gradients need the same differences: one kernel, of one block, is enough.")
def _(t):
    y, target = growing(t, 600)
    launches = mse(t, y, target).launches
    if t.on_gpu:
        return
    t.equal(len(launches), 1, "launches")
    t.at_most(launches[0].atomics, 0, "atomic operations")


@T.test(2, "loss only", "without a gradient", hint="A null pointer in place of the gradient: store none, and compute the loss.")
def _(t):
    for n in (1, 300):
        y, target = growing(t, n)
        t.close(mse(t, y, target, wants_gradient=0)["loss"][0], (n - 1) * (2 * n - 1) / 6, "loss")


@T.test(3, "loads", "each number is loaded once", hint="Keep the difference in a register: both results are made from it.")
def _(t):
    n = 1024
    y, target = growing(t, n)
    for launch in mse(t, y, target).launches:
        t.at_most(launch.global_loads, 2 * n, "loads from global memory")


@T.test(1, "sectors", "neighbouring threads take neighbouring elements",
        hint="Thread t takes the elements t, t + blockDim.x, t + 2 blockDim.x and so on.")
def _(t):
    n = 1024  # y, target and gradient lie in n / 8 sectors of 32 bytes each; a few more for the loss
    y, target = growing(t, n)
    for launch in mse(t, y, target).launches:
        t.at_most(launch.sectors, 3 * n / 8 + 8, "sectors of global memory", launch.worst_sectors)
