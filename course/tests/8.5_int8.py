"""Tests of task 8.5. A group has 32 numbers; its scale is 1 where its largest number is 127."""
from judge.testing import task

T = task("8.5", "Weights of one byte", 20, "8_language/8.5_int8.cu", exports=["course::gpu::quantize", "course::gpu::matvec_int8"], extra=True)

GROUP = 32


def quantize(t, w, rows=1):
    return t.run(w=w, rows=rows, columns=len(w) // rows)


def matvec(t, q, scales, x):
    return t.run(q=q, scales=scales, x=x, rows=len(q) // len(x), columns=len(x))


def bytes_for(t, count):
    return [t.random.randint(-127, 127) for _ in range(count)]


def product(q, scales, x):
    n = len(x)
    return [sum(q[r * n + c] * scales[(r * n + c) // GROUP] * x[c] for c in range(n)) for r in range(len(q) // n)]


def is_near(t, w, found, rows):
    """Scales are those of the largest numbers, and each number is within half a scale of what stands for it."""
    for group, scale in enumerate(found["scales"]):
        largest = max(map(abs, w[group * GROUP:group * GROUP + GROUP]))
        t.check(abs(scale - largest / 127) <= 1e-5 * largest, f"scales[{group}]: found {scale:g}, expected {largest / 127:g}, for the largest is {largest:g}")
    for i, each in enumerate(w):
        scale = found["scales"][i // GROUP]
        t.check(abs(found["q"][i]) <= 127, f"q[{i}]: found {found['q'][i]}, expected -127 to 127")
        t.check(abs(found["q"][i] * scale - each) <= 0.5001 * scale, f"q[{i}] * scale: found {found['q'][i]} * {scale:g} = {found['q'][i] * scale:g} for {each:g}, expected "
                f"a difference of at most scale / 2")


@T.test(4, "quantize", "the largest number of a group becomes 127, and the others the nearest whole number",
        hint="Divide by the scale and round: a conversion to int cuts off.")
def _(t):
    w = [127.0, 0.0, 1.0, -1.0, 2.4, 2.6, -2.4, -2.6] + [0.25] * 24
    found = quantize(t, w)
    t.close(found["scales"], [1.0], "scales")
    t.equal(found["q"], [127, 0, 1, -1, 2, 3, -2, -3] + [0] * 24, "q")
    found = quantize(t, [0.5 * each for each in range(-20, 12)])
    t.close(found["scales"], [10 / 127], "scales, where -10 is the largest")
    t.equal(found["q"][0], -127, "q of -10")
    t.equal(found["q"][31], 70, "q of 5.5")  # 69.85
    t.close(quantize(t, [1e-6] * GROUP)["scales"][0] * 1e6, 1 / 127, "the scale of a group of 0.000001, times a million,")


@T.test(2, "error", "no number is off by more than half a scale", hint="Round to the nearest whole number, also below 0.")
def _(t):
    for rows, columns in ((1, 32), (3, 64), (5, 160)):
        w = t.floats(rows * columns, -3, 3)
        is_near(t, w, quantize(t, w, rows), rows)
    for size in (1e-9, 1e-37):
        w = t.floats(64, -size, size)
        is_near(t, w, quantize(t, w), 1)


@T.test(1, "zeros", "a group of zeros", hint="0 / 0 is NaN: where the scale is 0, all of the group is 0.")
def _(t):
    found = quantize(t, [0.0] * GROUP + [12.7] * GROUP + [-0.0] * GROUP)
    t.equal(found["q"], [0] * GROUP + [127] * GROUP + [0] * GROUP, "q")
    t.close(found["scales"], [0.0, 0.1, 0.0], "scales")


@T.test(2, "groups", "each group of each row has a scale of its own", hint="Group g of row r has the columns 32 g to 32 g + 31.")
def _(t):
    w = [each for largest in (127.0, 1270.0, 12.7, 254.0, 0.127, 63.5) for each in [largest] + [largest / 127] * 31]
    for rows in (1, 2, 3, 6):
        found = quantize(t, w, rows)
        t.close(found["scales"], [1.0, 10.0, 0.1, 2.0, 0.001, 0.5], f"scales of {rows} rows")
        t.equal(found["q"], ([127] + [1] * 31) * 6, f"q of {rows} rows")


@T.test(4, "product", "bytes times scales times x, summed over a row", hint="Bytes have a sign. Each group of 32 columns has its scale.")
def _(t):
    t.close(matvec(t, [3] + [0] * 31, [0.5], [2.0] * GROUP)["y"], [3.0], "y")
    t.close(matvec(t, [-1] * GROUP, [1.0], [1.0] * GROUP)["y"], [-32.0], "y")
    t.close(matvec(t, [1] * 64 + [-2] * 64, [1.0, 10.0, 0.5, 4.0], [1.0] * GROUP + [0.25] * GROUP)["y"], [112.0, -96.0], "y of two rows of two groups")
    x = [float(c) for c in range(GROUP)]
    q = [1 if c == r else 0 for r in range(GROUP) for c in range(GROUP)]
    t.close(matvec(t, q, [1.0] * GROUP, x)["y"], x, "y, where q is the matrix of ones on the diagonal")


@T.test(2, "sizes", "any rows, and columns that are multiples of 32", hint="The last block may have fewer rows, and the last tile fewer columns.")
def _(t):
    for rows, columns in ((1, 32), (2, 96), (7, 160), (9, 1056), (70, 64), (2, 2528), (1, 5024)):
        q, scales, x = bytes_for(t, rows * columns), t.quarters(rows * columns // GROUP, -2, 2), t.quarters(columns, -2, 2)
        t.close(matvec(t, q, scales, x)["y"], product(q, scales, x), "y", 1e-4)
    t.equal(t.run(q=[], scales=[], x=[], rows=3, columns=0)["y"], [0.0] * 3, "y of three rows without columns")


@T.test(1, "launches", "one launch each", hint="The largest number of a group is found by the threads that then store the group.")
def _(t):
    if not t.on_gpu:
        t.at_most(len(quantize(t, t.floats(320), 2).launches), 1, "launches of quantize")
        t.at_most(len(matvec(t, bytes_for(t, 640), t.quarters(20), t.quarters(64)).launches), 1, "launches of matvec_int8")


def quantize_moves(t, rows, columns):
    reply = quantize(t, t.floats(rows * columns), rows)
    if not t.on_gpu:
        t.at_most(reply.total("global_load_bytes"), 4 * rows * columns, "bytes that quantize loads")
        t.at_most(reply.total("global_store_bytes"), rows * columns * (1 + 4 / GROUP), "bytes that quantize stores")
        t.at_most(32 * reply.total("sectors"), 6.25 * rows * columns, "bytes of the sectors of quantize", reply.worst("sectors"))


@T.test(1, "quantize once", "each number is loaded once, and a byte is stored for it", hint="32 threads have a group: they find its largest number in shared memory, or by __shfl_xor_sync.")
def _(t):
    quantize_moves(t, 8, 128)


def matvec_moves(t, rows, columns):
    """A byte for each number, a quarter for its scale where four are loaded at once, and x, which at least four rows share."""
    reply = matvec(t, bytes_for(t, rows * columns), t.quarters(rows * columns // GROUP), t.quarters(columns))
    if not t.on_gpu:
        t.at_most(32 * reply.total("sectors"), 3.25 * rows * columns + 32 * rows, f"bytes of the sectors of matvec_int8 for {rows} x {columns} numbers", reply.worst("sectors"))


@T.test(3, "bytes", "a product moves 3.25 bytes or fewer for each number of the matrix",
        hint="Neighbouring threads load neighbouring bytes of a row. The rows of a block share x in shared memory. Numbers of 4 bytes are never stored.")
def _(t):
    matvec_moves(t, 32, 512)
