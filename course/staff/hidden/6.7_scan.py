"""Hidden tests of task 6.7."""
import math

from judge.testing import hidden, public

CHUNK = 512


@hidden("6.7", of="scan", test="random sizes", title="other sizes within a chunk", hint="out[i] is the sum of x[0] to x[i], with x[i] itself.")
def _(t):
    for n in (3, 33, 127, 129, 257, t.random.randint(300, 510)):
        public("6.7").scan(t, t.quarters(n))


@hidden("6.7", of="edges", test="more edges", title="around the end of other chunks", hint="Ask for n before each load and store.")
def _(t):
    for n in (CHUNK - 3, CHUNK + 3, 3 * CHUNK - 1, 3 * CHUNK, 4 * CHUNK + 1, t.random.randint(520, 1000)):
        public("6.7").scan(t, t.quarters(n))


@hidden("6.7", of="chunks", test="more chunks", title="other numbers of chunks", hint="There may be more chunks than one block scans at once.")
def _(t):
    public("6.7").scan(t, t.quarters(t.random.randint(10000, 40000)))
    for n in (CHUNK * CHUNK + 1, 2 * CHUNK * CHUNK + 3 * CHUNK + 1):
        reply = public("6.7").scan(t, public("6.7").many(t, n))
        t.at_most(len(reply.launches), 3, "launches")


@hidden("6.7", of="infinity", test="infinity elsewhere", title="infinity at other places", hint="Never subtract from a sum what was added to it.")
def _(t):
    for n in (40, 511, 1700):
        x = t.quarters(n)
        x[t.random.randrange(1, n)] = t.random.choice((math.inf, -math.inf))
        public("6.7").scan(t, x)
        x[-1] = math.nan
        public("6.7").scan(t, x)


@hidden("6.7", of="sectors", test="sectors of other sizes", title="sectors of other sizes", hint="Neighbours of a warp load and store neighbours.")
def _(t):
    for n in (16384, 12345):
        reply = public("6.7").scan(t, public("6.7").many(t, n))
        if not t.on_gpu:
            t.at_most(len(reply.launches), 3, "launches")
            t.at_most(reply.total("sectors"), 4 * n / 8 + n / 16, "sectors", reply.worst("sectors"))


@hidden("6.7", of="work", test="work of other sizes", title="accesses of shared memory for other sizes", hint="A tree has half as much to do at each level.")
def _(t):
    for n in (16384, 12345):
        reply = public("6.7").scan(t, public("6.7").many(t, n))
        if not t.on_gpu:
            t.check(sum(each.threads for each in reply.launches) >= n / 64, "fewer than n / 64 threads share the work")
            t.at_most(reply.total("shared_loads") + reply.total("shared_stores"), 10 * n, "loads and stores of shared memory")


@hidden("6.7", of="banks", test="banks of other sizes", title="bank conflicts of other sizes", hint="Leave a gap after each 32 numbers.")
def _(t):
    reply = public("6.7").scan(t, public("6.7").many(t, 16384))
    if not t.on_gpu:
        t.at_most(reply.total("shared_wavefronts"), 1.25 * reply.total("least_wavefronts"), "wavefronts of shared memory", reply.worst("wavefronts"))
