"""Tests of task 6.8."""
import array
import struct

from judge.testing import task

T = task("6.8", "Half types", 20, "6_extra/6.8_halves.cu", exports=["course::gpu::sum_rows", "course::gpu::matmul_halves", "course::gpu::scaled_step"], extra=True)

INFINITE, NAN = 0x7c00, 0x7e01  # as halves


def bits(numbers):
    """Each number as the bits of the nearest half."""
    return list(struct.unpack(f"<{len(numbers)}H", struct.pack(f"<{len(numbers)}e", *numbers)))


def numbers(halves):
    return list(struct.unpack(f"<{len(halves)}e", struct.pack(f"<{len(halves)}H", *halves)))


def sums(t, x, columns, tolerance=1e-6):
    """Sums of rows of halves, each near to the exact one."""
    rows = len(x) // columns
    reply = t.run(x=bits(x), rows=rows, columns=columns)
    x = numbers(bits(x))
    t.close(reply["out"], [sum(x[i * columns:i * columns + columns]) for i in range(rows)], "out", tolerance)
    return reply


def product(t, m, n, k, most=8):
    """The reply for a product of random whole numbers."""
    a, b = t.whole(m * k, -most, most), t.whole(k * n, -most, most)
    reply = t.run(a=bits(a), b=bits(b), m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


def steps(t, weights, gradients, rate=0.5, scale=1024.0, good_steps=0, interval=2000):
    """The reply after a step for each gradient, whose numbers are `scale` times too large."""
    return t.run(weights=weights, copy=bits([7.0] * len(weights)), gradients=[each for one in gradients for each in one], rate=[rate],
                 scale=[scale], good_steps=good_steps, interval=interval)


def check_step(t, weights, gradient, rate, scale):
    """A good step: weights as float32 has them, and the halves nearest to them."""
    halves = bits([each * scale for each in gradient])
    reply = steps(t, weights, [halves], rate, scale)
    expected = array.array("f", (w - rate * g / scale for w, g in zip(weights, numbers(halves))))
    t.close(reply["weights"], list(expected), "weights", 1e-6)
    t.equal(reply["copy"], bits(reply["weights"]), "the bits of copy", before=bits([7.0])[0])
    return reply


@T.test(2, "sums", "sums of rows", hint="Row r begins at r * columns. __half2float gives the float of a half.")
def _(t):
    for rows, columns in ((1, 1), (2, 3), (3, 32), (5, 100), (40, 7)):
        sums(t, [(i % 9 - 4) / 8 for i in range(rows * columns)], columns)


@T.test(1, "float sums", "sums that no half holds", hint="Add floats: a half has 11 binary digits, so 2048 + 1 is 2048 again.")
def _(t):
    sums(t, [1.0] * 5000, 5000)
    sums(t, [60000.0] * 300, 100)
    sums(t, [1 + (i % 3) / 1024 for i in range(2 * 3001)], 3001)


@T.test(3, "product", "products of one to eight fragments", hint="load_matrix_sync wants the first element of a 16 x 16 part, and how far its rows lie apart: k for a, n for b and c. A fragment that nobody has filled is NaN.")
def _(t):
    for m, n, k in ((16, 16, 16), (16, 16, 32), (32, 32, 32), (64, 32, 16), (32, 64, 48)):
        product(t, m, n, k)


@T.test(2, "edges", "odd numbers of fragments", hint="All threads of a warp take part in each call, or none: ask for a whole fragment, not for an element.")
def _(t):
    for m, n, k in ((48, 16, 16), (16, 48, 32), (80, 48, 16), (16, 112, 16)):
        product(t, m, n, k)


@T.test(1, "float accumulators", "products whose sums no half holds", hint="The accumulator of a fragment has a type of its own: float.")
def _(t):
    product(t, 16, 32, 512, most=200)


@T.test(3, "tensor cores", "each product by mma_sync, once", hint="An mma_sync makes 16 * 16 * 16 products of two numbers, and c needs m * n * k of them.")
def _(t):
    for m, n, k in ((32, 32, 64), (48, 80, 32)):
        reply = product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.equal(reply.total("tensor_products"), m * n * k, "products by tensor cores")


@T.test(3, "bytes", "each fragment is used twice", hint="A warp that makes 2 x 2 fragments of c loads 2 of a and 2 of b for 4 products.")
def _(t):
    for m, n, k in ((64, 64, 64), (96, 32, 128)):
        reply = product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(reply.total("global_load_bytes"), m * n * k / 8, "bytes loaded from global memory")
            t.at_most(reply.total("global_store_bytes"), 4 * m * n, "bytes stored in global memory")


@T.test(3, "step", "weights and their copy after a step", hint="Divide the gradient by the scale as floats, take the step with the float weights, and round the result.")
def _(t):
    check_step(t, [1.0], [0.25], 0.5, 1024.0)
    check_step(t, [i / 7 - 20 for i in range(300)], [(i % 13 - 6) / 16 for i in range(300)], 0.125, 256.0)
    check_step(t, [1.0, 2.0, -3.0], [3e-7, -5e-7, 2e-7], 100.0, 65536.0)  # too small for halves without a scale
    check_step(t, [1000.0, 1.0], [0.01, 0.0001], 0.25, 4096.0)  # steps that a half of the weight would lose


@T.test(2, "scale", "what is skipped, halved and doubled", hint="One infinite or NaN gradient skips the whole step. Look at all gradients before the first weight changes, and change the scale when all is done. Many may be bad at once: an atomic operation.")
def _(t):
    good = bits([512.0] * 300)
    for bad in (INFINITE, INFINITE | 0x8000, NAN):
        for where in (0, 299):
            gradient = good[:where] + [bad] + good[where + 1:]
            reply = steps(t, [1.0] * 300, [gradient], good_steps=5)
            t.equal(reply["weights"], [1.0] * 300, "weights after a step with a gradient that is no number")
            t.equal(reply["copy"], bits([7.0] * 300), "the bits of copy after it")
            t.equal(reply["scales"], [512.0], "scale after it")
            t.equal(reply["good_steps"], [0], "good_steps after it")
    largest = steps(t, [1.0] * 2, [bits([65504.0, -65504.0])])
    t.equal([largest["scales"], largest["good_steps"]], [[1024.0], [1]], "scale and good_steps after a step whose gradients are the largest halves")
    # Many bad ones at once, and scales without a bound of their own.
    t.equal(steps(t, [1.0] * 300, [[INFINITE] * 300])["scales"], [512.0], "scale after a step whose gradients are all infinite")
    t.equal(steps(t, [1.0], [[NAN]], scale=1.0)["scales"], [0.5], "scale after a bad step, from 1 on")
    t.equal(steps(t, [1.0], [bits([8.0])], scale=2.0 ** 24, interval=1)["scales"], [2.0 ** 25], "scale after a good step, from 2^24 on")
    one, bad = bits([8.0]), [INFINITE]
    reply = steps(t, [1.0], [one, one, one, bad, one, one, one, one, bad, bad, one], good_steps=0, interval=3)
    t.equal(reply["scales"], [1024.0, 1024.0, 2048.0, 1024.0, 1024.0, 1024.0, 2048.0, 2048.0, 1024.0, 512.0, 512.0], "scale after each step")
    t.equal(reply["good_steps"], [1, 2, 0, 0, 1, 2, 0, 1, 0, 0, 1], "good_steps after each step")
