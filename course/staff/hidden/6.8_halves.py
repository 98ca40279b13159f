"""Hidden tests of task 6.8."""
from judge.testing import hidden, public


@hidden("6.8", of="sums", test="random rows", title="sums of random rows", hint="Row r begins at r * columns.")
def _(t):
    for rows, columns in ((7, 33), (1, 1), (300, 2), (4, t.random.randint(60, 200)), (3, 64), (2, 31)):
        public("6.8").sums(t, t.floats(rows * columns), columns)


@hidden("6.8", of="sums", test="many rows", title="sums of 65,600 rows", hint="A grid has up to 2^31 - 1 blocks along x, and 65,535 along y.")
def _(t):
    x = [(i % 9 - 4) / 8 for i in range(65600)]
    reply = t.begins(5, may_end=True, x=public("6.8").bits(x), rows=len(x), columns=1)  # blocks of many threads take longer
    if reply:
        t.equal(reply["out"], x, "out")


@hidden("6.8", of="float sums", test="long rows", title="sums of 20,000 halves", hint="Add floats.")
def _(t):
    public("6.8").sums(t, [3.0] * 20000, 20000)
    public("6.8").sums(t, [-50000.0] * 4097, 4097)
    public("6.8").sums(t, [1 + t.random.randrange(8) / 1024 for _ in range(3 * 2000)], 2000)


@hidden("6.8", of="product", test="more products", title="products of 64 fragments", hint="load_matrix_sync wants the first element of a part and the length of a row.")
def _(t):
    for m, n, k in ((32, 32, 16), (128, 64, 32), (64, 128, 96), (32, 96, 160)):
        public("6.8").product(t, m, n, k)


@hidden("6.8", of="edges", test="more edges", title="odd numbers of fragments in each direction", hint="Ask for whole fragments.")
def _(t):
    for m, n, k in ((16, 16, 48), (112, 80, 16), (48, 48, 48), (16, 16 * t.random.choice((5, 9, 11)), 16), (16 * t.random.choice((5, 9, 11)), 16, 32)):
        public("6.8").product(t, m, n, k)


@hidden("6.8", of="float accumulators", test="longer products", title="products of 1,040 terms", hint="The accumulator of a fragment has a type of its own.")
def _(t):
    public("6.8").product(t, 32, 16, 1040, most=100)


@hidden("6.8", of="tensor cores", test="tensor cores of other sizes", title="products by mma_sync for other sizes", hint="An mma_sync makes 16 * 16 * 16 products.")
def _(t):
    for m, n, k in ((64, 96, 32), (112, 16, 48)):
        reply = public("6.8").product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.equal(reply.total("tensor_products"), m * n * k, "products by tensor cores")


@hidden("6.8", of="bytes", test="bytes of other sizes", title="bytes loaded for other sizes", hint="A warp that makes 2 x 2 fragments of c uses each of a and b twice.")
def _(t):
    for m, n, k in ((32, 96, 64), (128, 64, 32)):
        reply = public("6.8").product(t, m, n, k)
        if not t.on_gpu:
            t.at_most(reply.total("global_load_bytes"), m * n * k / 8, "bytes loaded from global memory")
            t.at_most(reply.total("global_store_bytes"), 4 * m * n, "bytes stored in global memory")


@hidden("6.8", of="step", test="random steps", title="steps of random weights", hint="The step is taken with floats; copy is rounded from them.")
def _(t):
    for n, scale in ((1, 2.0), (129, 512.0), (1000, 32768.0)):
        public("6.8").check_step(t, t.floats(n, -4, 4), t.floats(n), 0.25, scale)
    public("6.8").check_step(t, [512.0, -2.0], [0.02, 0.0003], 0.5, 2048.0)
    public("6.8").check_step(t, [3.0, 5.0, 7.0], [65504 / 512, -65504 / 512, 1.0], 0.5, 512.0)
    public("6.8").check_step(t, [1.0] * 300001, [0.5] * 300001, 0.25, 64.0)
    public("6.8").check_step(t, [1.5] * 3, [4e-7, 2e-7, -6e-7], 300.0, 32768.0)


@hidden("6.8", of="scale", test="more scales", title="many steps, of which some are skipped", hint="One infinite or NaN gradient skips the whole step.")
def _(t):
    bits, steps = public("6.8").bits, public("6.8").steps
    for bad, where in ((0x7e00, 20000), (0xfc00, t.random.randrange(20001))):  # behind what a few blocks look at
        gradient = bits([8.0]) * 20001
        gradient[where] = bad
        t.equal(steps(t, [1.0] * 20001, [gradient])["scales"], [512.0], f"scale after a step whose gradient {where} of 20001 is bad")
    t.equal(steps(t, [1.0] * 700, [[0x7c00, 0x7e01] * 350], scale=1.0)["scales"], [0.5], "scale after a step whose gradients are all bad")
    t.equal(steps(t, [1.0], [bits([4.0])], scale=2.0 ** 30, interval=1)["scales"], [2.0 ** 31], "scale after a good step, from 2^30 on")
    n, scale, good_steps, weight, gradients, scales, counts = 500, 4096.0, 1, 8.0, [], [], []
    for number in range(24):
        bad = number in (3, 4, 11) or number > 17 and t.random.random() < 0.4
        gradient = bits([scale * 0.25] * n)
        if bad:
            gradient[t.random.randrange(n)] = t.random.choice([0x7c00, 0xfc00, 0x7e00, 0xffff, 0x7c01])
        scale, good_steps, weight = (scale / 2, 0, weight) if bad else (scale, good_steps + 1, weight - 0.125)
        if good_steps == 4:
            scale, good_steps = scale * 2, 0
        gradients.append(gradient)
        scales.append(scale)
        counts.append(good_steps)
    reply = public("6.8").steps(t, [8.0] * n, gradients, good_steps=1, scale=4096.0, interval=4)
    t.equal(reply["weights"], [weight] * n, "weights")
    t.equal(reply["copy"], bits([weight] * n), "the bits of copy")
    t.equal(reply["scales"], scales, "scale after each step")
    t.equal(reply["good_steps"], counts, "good_steps after each step")
