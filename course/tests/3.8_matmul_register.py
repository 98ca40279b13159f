"""Tests of task 3.8."""
import math

from judge.testing import task

T = task("3.8", "A matrix product in registers", 15, "3_cuda/3.8_matmul_register.cu",
         exports=["course::gpu::matmul_register"])


def product(t, m, n, k, a_transposed=False, b_transposed=False, **more):
    """Row-major a and b; where one is transposed, its memory holds columns one after the other."""
    a, b = t.quarters(m * k), t.quarters(k * n)
    stored_a = [a[i * k + p] for p in range(k) for i in range(m)] if a_transposed else a
    stored_b = [b[p * n + j] for j in range(n) for p in range(k)] if b_transposed else b
    reply = t.run(a=stored_a, b=stored_b, m=m, n=n, k=k, a_strides=[1, m] if a_transposed else [k, 1],
                  b_strides=[1, k] if b_transposed else [n, 1], **more)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


def queued(t, m, n, k):
    """A c so large that the simulator would need minutes: a device must take the grid, and nothing is computed."""
    if not t.on_gpu:
        t.run(queued=1, m=m, n=n, k=k)


def repeats(t, m, n, k, a_strides, b_strides):
    """Any strides: where one is 0, a row or a column is one and the same."""
    def matrix(rows, columns, strides):
        memory = t.quarters((rows - 1) * strides[0] + (columns - 1) * strides[1] + 1)
        return memory, [memory[i * strides[0] + j * strides[1]] for i in range(rows) for j in range(columns)]

    (stored_a, a), (stored_b, b) = matrix(m, k, a_strides), matrix(k, n, b_strides)
    reply = t.run(a=stored_a, b=stored_b, m=m, n=n, k=k, a_strides=a_strides, b_strides=b_strides)
    t.is_product(reply["c"], a, b, m, n, k)


def comes_by_tiles(t, reply, m, n, k):
    """What is counted in shared memory counts only where a and b come through it."""
    t.check(reply.total("shared_loads") > 0, "no kernel loads from shared memory")
    t.at_most(reply.total("global_loads"), 2 * m * n * k / 16, "loads from global memory")


@T.test(2, "tiles", "k = 16, and a c of whole tiles of 64 x 64",
        hint="A thread computes 16 elements of its block's tile; each element of c is computed by one thread.")
def _(t):
    for m, n in [(64, 64), (128, 64), (64, 128)]:
        product(t, m, n, 16)


@T.test(2, "long k", "several steps along k", hint="A tile may be filled again when all threads have read it.")
def _(t):
    for k in (32, 48):
        product(t, 64, 64, k)


@T.test(2, "edges of c", "m and n that 64 does not divide; grids for 500,000 rows or columns",
        hint="Check the row and the column of each of a thread's 16 elements before it is stored.")
def _(t):
    for m, n in [(1, 1), (63, 64), (64, 33), (65, 70)]:
        product(t, m, n, 16)
    for m, n in [(500000, 20), (20, 500000)]:
        queued(t, m, n, 16)


@T.test(1, "edges of k", "k that 16 does not divide, also with infinity", hint="Where a or b has no element, put 0 into the tile, into both of them.")
def _(t):
    for k in (1, 5, 15):
        product(t, 64, 64, k)
    for at in (3, 16):
        ones, row = [1.0] * 17 * 64, [1.0] * at + [math.inf] + [1.0] * (16 - at)
        for a, b in ((row * 64, ones), (ones, [each for each in row for _ in range(64)])):
            t.equal(t.run(a=a, b=b, m=64, n=64, k=17, a_strides=[17, 1], b_strides=[64, 1])["c"], [math.inf] * 4096, "c")


@T.test(2, "transposed", "a or b is transposed, or both, or has other strides, among them 0",
        hint="Element (i, j) of a matrix is data[i * row + j * column]: take both strides from it. A stride of 0 repeats an element.")
def _(t):
    repeats(t, 64, 64, 16, [0, 1], [64, 1])
    repeats(t, 64, 64, 16, [16, 1], [0, 1])
    repeats(t, 64, 64, 16, [1, 0], [5, 0])
    repeats(t, 64, 64, 16, [3, 200], [130, 2])
    for a_transposed, b_transposed in [(True, False), (False, True), (True, True)]:
        product(t, 128, 64, 16, a_transposed, b_transposed)


@T.test(3, "shared loads", "m n k / 2 loads from shared memory",
        hint="A thread that has 4 elements of a and 4 of b in registers can do 16 products with these 8 loads.")
def _(t):
    m, n, k = 64, 128, 16
    reply = product(t, m, n, k)
    if not t.on_gpu:
        comes_by_tiles(t, reply, m, n, k)
        t.at_most(reply.total("shared_loads"), m * n * k * (4 + 4) / 16, "loads from shared memory")


@T.test(1, "global loads", "each element is loaded once for each tile of 64 x 64; neighbours by neighbours",
        hint="The 256 threads of a block fill its two tiles together, 4 elements of each a thread.")
def _(t):
    m, n, k = 128, 64, 16
    reply = product(t, m, n, k)
    if not t.on_gpu:
        loads = 2 * m * n * k / 64
        t.at_most(reply.total("global_loads"), loads, "loads from global memory")
        t.at_most(reply.total("sectors"), (loads + m * n) / 8, "sectors", reply.worst("sectors"))


@T.test(2, "banks", "no bank conflicts",
        hint="Look at the 32 places that a warp uses at once: two places 32 words apart share a bank.")
def _(t):
    m, n, k = 64, 64, 16
    reply = product(t, m, n, k)
    if not t.on_gpu:
        comes_by_tiles(t, reply, m, n, k)
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))
