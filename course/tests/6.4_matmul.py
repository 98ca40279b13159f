"""Tests of task 6.4: right, and built as fast kernels are. Nothing is timed here; ./grade 6.4 --gpu does that."""
from judge.testing import task

T = task("6.4", "The fastest matrix product", 25, "6_extra/6.4_matmul.cu", exports=["course::gpu::matmul"], extra=True)


def product(t, m, n, k, high=8):
    a, b = (t.whole if high > 8 else t.quarters)(m * k, -high, high), (t.whole if high > 8 else t.quarters)(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@T.test(2, "twice", "a matrix of 128 x 128, and other numbers at the same places",
        hint="Compute the product at each call: the numbers may be others than at the call before.")
def _(t):
    for m, n, k in [(128, 128, 8), (128, 128, 8)]:
        product(t, m, n, k)


@T.test(3, "whole tiles", "sizes that are multiples of 128",
        hint="Begin with one tile, then take several along k, then several blocks.")
def _(t):
    for m, n, k in [(128, 128, 64), (128, 256, 32), (256, 128, 64)]:
        product(t, m, n, k)


@T.test(3, "edges", "sizes that no tile divides, and rows that do not begin at a multiple of 16 bytes",
        hint="A float4 needs an address that 16 divides: where n or k is no multiple of 4, rows do not begin at one.")
def _(t):
    for m, n, k in [(1, 1, 1), (1, 3, 2), (5, 1, 7), (3, 4, 5), (4, 5, 8), (6, 12, 20), (33, 129, 17), (130, 66, 9)]:
        product(t, m, n, k)


def by_identity(t, rows, k, b_is_it):
    """A matrix whose numbers have 24 bits, times the identity, on either side."""
    wide = t.whole(rows * k, -2 ** 24 + 1, 2 ** 24 - 1)
    identity = [float(i == j) for i in range(k) for j in range(k)]
    found = t.run(**dict(a=wide, b=identity, m=rows, n=k, k=k) if b_is_it else dict(a=identity, b=wide, m=k, n=rows, k=k))
    t.equal(found["c"], wide, "c, where the other matrix is the identity")


@T.test(3, "precision", "all 24 bits of a float count",
        hint="Half precision and TF32 have 11 bits: whole numbers above 2048 are rounded there.")
def _(t):
    for b_is_it in (True, False):
        by_identity(t, 128, 128, b_is_it)
    for m, n, k in [(128, 128, 8), (128, 128, 64)]:
        product(t, m, n, k, high=4095)


SIZE = 128


def launches(t):
    return product(t, SIZE, SIZE, SIZE).launches


@T.test(3, "loads", "tiles of at least 32 x 32: at most 2 m n k / 32 numbers are loaded",
        hint="The larger the tile of c that a block makes, the fewer times each element of a and b is loaded.")
def _(t):
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in launches(t)) / 4, 2 * SIZE ** 3 / 32, "numbers loaded from global memory")


@T.test(4, "loads a product", "at most one load, from any memory, for 4 multiplications",
        hint="A thread that makes 8 x 8 outputs multiplies 64 times for 16 numbers; a float4 brings 4 at once.")
def _(t):
    if not t.on_gpu:
        t.at_most(sum(each.shared_loads + each.global_loads for each in launches(t)), SIZE ** 3 / 4, "loads")


@T.test(4, "vectors", "loads and stores of global memory move 16 bytes each",
        hint="Where rows begin at multiples of 16 bytes: reinterpret_cast<const float4*>.")
def _(t):
    for launch in launches(t):
        t.at_most(launch.global_loads, launch.global_load_bytes / 16, "loads from global memory")
        t.at_most(launch.global_stores, launch.global_store_bytes / 16, "stores to global memory")


@T.test(3, "banks", "no bank conflicts",
        hint="Where neighbouring threads store single numbers to different rows of a tile, let a row be 4 numbers longer than the tile. An access of 16 bytes serves 8 threads at a time: these must not meet.")
def _(t):
    for launch in launches(t):
        t.check(launch.shared_loads > 0, "the kernel uses no shared memory")
        t.at_most(launch.global_load_bytes / 4, 2 * SIZE ** 3 / 16, "numbers loaded from global memory")
        t.at_most(launch.shared_wavefronts, launch.least_wavefronts, "wavefronts of shared memory", launch.worst_wavefronts)
