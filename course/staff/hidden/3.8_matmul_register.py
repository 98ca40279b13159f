"""Hidden tests of task 3.8."""
import math

from judge.testing import hidden, public


def product(t, m, n, k):
    a, b = t.quarters(m * k), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k, a_strides=[k, 1], b_strides=[n, 1])
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@hidden("3.8", of="edges of c", test="random edges", title="random m and n, and grids for large ones", hint="Try m and n from 1 to 140, k = 16. A grid has at most 65,535 blocks along y and z.")
def _(t):
    for _ in range(4):
        product(t, t.random.randint(1, 140), t.random.randint(1, 140), 16)
    few, many = t.random.randint(1, 4000), t.random.randint(262141, 500000)
    for m, n in [(few, many), (many, few), (500000, 1), (1, 500000)]:
        public("3.8").queued(t, m, n, 5)


@hidden("3.8", of="long k", test="longer k", title="more steps along k", hint="Try k = 80.")
def _(t):
    product(t, 64, 128, 80)


@hidden("3.8", of="transposed", test="parts of matrices", title="a and b are parts of larger matrices",
        hint="The stride of a row may be larger than a row.")
def _(t):
    def stored(values, rows, columns, row, column):
        memory = [99.0] * (rows * row + columns * column + 1)
        for i in range(rows):
            for j in range(columns):
                memory[i * row + j * column] = values[i * columns + j]
        return memory

    def layouts(rows, columns):
        """Rows apart, elements apart, and both of a transposed matrix."""
        return [[columns + 9, 1], [2 * columns + 9, 2], [1, rows + 9], [3, 3 * rows + 9]]

    for m, n, k, of_a, of_b in [(64, 64, 32, 0, 1), *((20, 18, 9, i, j) for i in range(4) for j in range(4))]:
        a, b = t.quarters(m * k), t.quarters(k * n)
        a_strides, b_strides = layouts(m, k)[of_a], layouts(k, n)[of_b]
        reply = t.run(a=stored(a, m, k, *a_strides), b=stored(b, k, n, *b_strides), m=m, n=n, k=k, a_strides=a_strides, b_strides=b_strides)
        t.is_product(reply["c"], a, b, m, n, k)


@hidden("3.8", of="shared loads", test="edges", title="one launch, and tiles at edges too", hint="All blocks work alike; only what lies outside is not loaded.")
def _(t):
    for m, n, k in [(70, 65, 20), (130, 40, 33), (5, 7, 600)]:
        reply = product(t, m, n, k)
        if not t.on_gpu:
            high, wide, deep = -(-m // 64) * 64, -(-n // 64) * 64, -(-k // 16) * 16
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("global_loads"), m * k * wide // 64 + k * n * high // 64, "loads from global memory")
            t.at_most(reply.total("shared_loads"), high * wide * deep / 2, "loads from shared memory")
            t.at_most(reply.total("global_stores"), m * n, "stores to global memory")


@hidden("3.8", of="long k", test="larger k", title="k = 300, 513 and 1301", hint="Nothing limits k.")
def _(t):
    product(t, 66, 70, 300)
    product(t, 10, 12, 513)
    product(t, 3, 5, 1301)


@hidden("3.8", of="edges of c", test="not finite", title="0 times infinity is NaN, in its own row and column alone",
        hint="Leave no product out, and multiply nothing that lies outside: 0 times infinity is NaN.")
def _(t):
    inf, nan = math.inf, math.nan
    reply = t.run(a=[0.0, 1.0, 2.0, inf], b=[inf, 3.0, 2.0, inf], m=2, n=2, k=2, a_strides=[2, 1], b_strides=[2, 1])
    t.equal(reply["c"], [nan, inf, inf, inf], "c")


@hidden("3.8", of="tiles", test="other tiles", title="k = 16, and a c of other whole tiles", hint="Each element of c is computed by one thread.")
def _(t):
    for m, n in [(192, 64), (64, 192), (128, 128)]:
        product(t, m, n, 16)


@hidden("3.8", of="edges of k", test="other edges of k", title="random k", hint="Where a or b has no element, put 0 into the tile.")
def _(t):
    for _ in range(3):
        product(t, 64, 64, t.random.randint(1, 60))


@hidden("3.8", of="global loads", test="global loads of other sizes", title="each element is loaded once for each tile, of 64 x 192 x 32", hint="The 256 threads of a block fill its two tiles together.")
def _(t):
    m, n, k = 64, 192, 32
    reply = product(t, m, n, k)
    if not t.on_gpu:
        t.at_most(reply.total("global_loads"), 2 * m * n * k / 64, "loads from global memory")
        t.at_most(reply.total("sectors"), (2 * m * n * k / 64 + m * n) / 8, "sectors", reply.worst("sectors"))


@hidden("3.8", of="banks", test="banks of other sizes", title="no bank conflicts, of 128 x 64 x 48", hint="Look at the 32 places that a warp uses at once.")
def _(t):
    m, n, k = 128, 64, 48
    reply = product(t, m, n, k)
    if not t.on_gpu:
        public("3.8").comes_by_tiles(t, reply, m, n, k)
        t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("3.8", of="edges of k", test="not finite at edges of k", title="infinity and NaN in one step, beside edges of k, and infinity times 0",
        hint="Put 0 into both tiles where k ends: what they held in the step before may be infinite.")
def _(t):
    for k in (3, 17, 35):
        for value in (math.inf, math.nan):
            for at in range(k):
                ones, other = [1.0] * k, [1.0] * k
                other[at] = value
                t.equal(t.run(a=ones, b=other, m=1, n=1, k=k, a_strides=[k, 1], b_strides=[1, 1])["c"], [value], "c")
                t.equal(t.run(a=other, b=ones, m=1, n=1, k=k, a_strides=[k, 1], b_strides=[1, 1])["c"], [value], "c")
    t.equal(t.run(a=[math.inf, 1.0], b=[0.0, 2.0], m=1, n=1, k=2, a_strides=[2, 1], b_strides=[1, 1])["c"], [math.nan], "c")


@hidden("3.8", of="transposed", test="strides of 0", title="rows, columns or all of a or b repeat", hint="A stride of 0 repeats an element, and needs no special case.")
def _(t):
    m, n, k = 9, 11, 20
    for of_a in ([0, 1], [1, 0], [0, 0], [0, 3], [k, 1]):
        for of_b in ([0, 1], [1, 0], [0, 0], [5, 0], [n, 1]):
            public("3.8").repeats(t, m, n, k, of_a, of_b)


@hidden("3.8", of="tiles", test="any place", title="memory that begins at any float", hint="An address is a multiple of 4 bytes, no more.")
def _(t):
    for shift in (1, 2, 3):
        public("3.8").product(t, 64, 64, 16, shift=shift)
        public("3.8").product(t, 64, 64, 16, True, True, shift=shift)
