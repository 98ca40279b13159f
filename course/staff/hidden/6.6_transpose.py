"""Hidden tests of task 6.6."""
from judge.testing import hidden, public


def compare(t, rows, columns):
    x = t.floats(rows * columns)
    found = t.run(x=x, rows=rows, columns=columns)["out"]
    t.equal(found, [x[i * columns + j] for j in range(columns) for i in range(rows)], "out")


@hidden("6.6", of="transpose", test="random matrices", title="random matrices", hint="Element (j, i) of out is at j * rows + i.")
def _(t):
    for rows, columns in ((5, 4), (96, 64), (t.random.randint(2, 20), t.random.randint(2, 20))):
        compare(t, rows, columns)


@hidden("6.6", of="edges", test="long and wide", title="matrices of 3,000 rows, and of 3,000 columns", hint="A tile at the edge has fewer rows or columns.")
def _(t):
    for rows, columns in ((3001, 2), (2, 3001), (70, 129), (1, 1025)):
        compare(t, rows, columns)


@hidden("6.6", of="sectors", test="sectors of other sizes", title="sectors of other matrices", hint="Load along the rows of x, store along the rows of out.")
def _(t):
    for rows, columns in ((32, 160), (96, 64), (104, 56)):
        reply = public("6.6").transpose(t, rows, columns)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 1, "launches")
            t.at_most(reply.total("sectors"), 2 * rows * columns / 8, "sectors", reply.worst("sectors"))
    reply = public("6.6").transpose(t, 100, 75)  # rows that begin in the middle of a sector
    if not t.on_gpu:
        t.at_most(reply.total("sectors"), 4 * 100 * 75 / 8, "sectors", reply.worst("sectors"))


@hidden("6.6", of="banks", test="banks of other sizes", title="bank conflicts of other matrices", hint="Make the rows of a tile a number longer.")
def _(t):
    for rows, columns in ((32, 32), (96, 32), (72, 40)):
        reply = public("6.6").transpose(t, rows, columns)
        if not t.on_gpu:
            t.at_most(reply.total("shared_wavefronts"), reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("6.6", of="histogram", test="random values", title="random values of 1 to 1,000 bins", hint="Two threads may count the same bin at once.")
def _(t):
    for n, bins in ((1, 2), (700, 3), (20000, 10), (9000, 1000), (70000, 1)):
        public("6.6").histogram(t, [t.random.randrange(bins) for _ in range(n)], bins)
    public("6.6").histogram(t, [1] * 1_060_000, 3)  # in few blocks more of one value than 16 bits count


@hidden("6.6", of="other values", test="more other values", title="values of which half are no bin", hint="Count a value only where 0 <= value < bins.")
def _(t):
    for bins in (1, 5, 1024):
        public("6.6").histogram(t, [t.random.randint(-2 * bins, 2 * bins) for _ in range(900)], bins)
        public("6.6").histogram(t, [-1, bins, bins + 1, -bins], bins)


@hidden("6.6", of="adds", test="adds of other sizes", title="additions in global memory for other values", hint="Count in shared memory first.")
def _(t):
    for n, bins in ((20000, 7), (32768, 100)):
        reply = public("6.6").histogram(t, [t.random.randrange(bins) for _ in range(n)], bins)
        if not t.on_gpu:
            t.at_most(len(reply.launches), 2, "launches")
            t.at_most(reply.total("global_stores"), bins + n / 16, "stores and atomic operations in global memory")
