"""Tests of task 3.2."""
from judge.testing import Op1, place, positions, task

T = task("3.2", "A strided map", 10, "3_cuda/3.2_map_strided.cu", exports=["course::gpu::map_strided"])

GAP = -777.0  # what the memory of out holds before


def negated(t, sizes, out_strides, x_sizes, x_strides, blocks=1, **more):
    """x holds the number of each place in memory plus 1. All of out's memory is looked at, gaps too."""
    x = [float(i + 1) for i in range(1 + place([each - 1 for each in x_sizes], x_strides))]
    expected = [GAP] * (1 + max(map(lambda p: place(p, out_strides), positions(sizes)), default=0))
    memory = list(expected)
    for p in positions(sizes):
        expected[place(p, out_strides)] = -x[place([i if size > 1 else 0 for i, size in zip(p, x_sizes)], x_strides)]
    reply = t.run(out_sizes=sizes, out_strides=out_strides, x_sizes=x_sizes, x_strides=x_strides, blocks=blocks,
                  op=Op1.neg, memory=memory, x=x, **more)
    t.equal(reply["memory"], expected, "memory of out", GAP)
    return reply


def line(t, n, blocks):
    return negated(t, [n], [1], [n], [1], blocks)


@T.test(1, "contiguous", "contiguous tensors", hint="Element number i has one position: its index in each dimension.")
def _(t):
    negated(t, [5], [1], [5], [1])
    negated(t, [2, 3], [3, 1], [2, 3], [3, 1])
    negated(t, [2, 3, 4, 5], [60, 20, 5, 1], [2, 3, 4, 5], [60, 20, 5, 1])


@T.test(2, "strides", "x is transposed, or out, or both",
        hint="The strides of x say where x lies, those of out where out lies; the position is the same.")
def _(t):
    negated(t, [2, 3], [3, 1], [2, 3], [1, 2])
    negated(t, [2, 3], [1, 2], [2, 3], [3, 1])
    negated(t, [4, 2, 3], [6, 1, 2], [4, 2, 3], [1, 4, 8])
    negated(t, [2, 3, 4, 5], [60, 20, 5, 1], [2, 3, 4, 5], [1, 2, 6, 24])
    negated(t, [2, 3, 4, 5], [60, 20, 5, 1], [2, 3, 4, 5], [60, 5, 15, 1])  # the two in the middle are exchanged, as heads of attention
    negated(t, [2, 3, 4, 5], [60, 5, 15, 1], [2, 3, 4, 5], [60, 20, 5, 1])


@T.test(1, "gaps", "between out's elements lies memory of others", hint="Write at out's own places, and nowhere else.")
def _(t):
    negated(t, [4], [3], [4], [1])
    negated(t, [3, 2], [7, 2], [3, 2], [2, 1])
    negated(t, [3, 2], [5, 2], [3, 2], [5, 2])


@T.test(1, "broadcast", "x has strides of 0, or sizes of 1",
        hint="Where x has size 1, its one element counts for each index, whatever the stride.")
def _(t):
    negated(t, [3, 4], [4, 1], [3, 4], [0, 1])
    negated(t, [3, 4], [4, 1], [3, 4], [1, 0])
    negated(t, [3, 4], [4, 1], [1, 4], [4, 1])
    negated(t, [3, 2, 4], [8, 4, 1], [3, 1, 1], [1, 5, 7])


@T.test(1, "rank 0", "a single number, and tensors without elements",
        hint="Without dimensions there is one element, at place 0; where a size is 0 there is none.")
def _(t):
    negated(t, [], [], [], [])
    for sizes in ([0], [3, 0], [0, 2]):
        reply = t.run(out_sizes=sizes, out_strides=[2, 1][:len(sizes)], x_sizes=sizes, x_strides=[2, 1][:len(sizes)],
                      blocks=2, op=Op1.neg, memory=[GAP] * 6, x=[1.0] * 6)
        t.equal(reply["memory"], [GAP] * 6, "memory of out", GAP)


@T.test(2, "grid of 2", "more elements than threads, and 2 blocks",
        hint="A thread goes on to its next element by as many as there are threads in all blocks.")
def _(t):
    for n, blocks in [(512, 2), (513, 2), (1000, 2), (1300, 2), (2000, 3)]:
        line(t, n, blocks)
    negated(t, [24, 30], [30, 1], [24, 30], [1, 24], 2)


@T.test(1, "blocks", "one launch of as many blocks as asked for", hint="`blocks` is the size of the grid.")
def _(t):
    for n, blocks in [(200, 1), (256, 2), (100, 3), (200, 70)]:
        reply = line(t, n, blocks)
        if not t.on_gpu:
            t.equal([each.grid for each in reply.launches], [[blocks, 1, 1]], "grids of the launches")
            t.equal([each.block for each in reply.launches], [[256, 1, 1]], "threads of the blocks of the launches")


@T.test(1, "sectors", "neighbouring threads take neighbouring elements",
        hint="In each turn of the loop the threads of a warp should take neighbours of the last dimension: they lie side by side.")
def _(t):
    n = 32 * 32
    reply = negated(t, [32, 32], [32, 1], [32, 32], [32, 1])
    if not t.on_gpu:  # n / 8 sectors are read and n / 8 written
        t.at_most(reply.total("sectors"), 2 * n / 8, "sectors", reply.worst("sectors"))
        t.at_most(reply.total("global_loads"), n, "loads from global memory")
