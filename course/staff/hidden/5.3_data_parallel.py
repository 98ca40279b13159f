"""Hidden tests of task 5.3."""
import struct

from judge.testing import hidden, public


def single(x):
    """x as a float of 32 bits."""
    return struct.unpack("f", struct.pack("f", x))[0]


@hidden("5.3", of="mean", test="random batches", title="random batches", hint="Try 11 rows on 4 replicas.")
def _(t):
    for _ in range(8):
        replicas, rows, width = t.random.randint(1, 6), t.random.randint(1, 20), t.random.randint(1, 4)
        x, y, w = t.quarters(rows * width), t.quarters(rows), t.quarters(width)
        order = list(range(replicas))
        t.random.shuffle(order)
        expected = [w[p] - 0.25 * sum(x[r * width + p] * y[r] for r in range(rows)) / rows for p in range(width)]
        reply = t.run(x=x, y=y, w=w, rows=rows, lr=0.25, order=order, y_width=1)
        t.close(reply["w"], expected * replicas, "weights of all replicas")


@hidden("5.3", of="all replicas", test="many weights", title="3,000 weights, 20 replicas", hint="Nothing limits the number of weights.")
def _(t):
    replicas, rows, width = 20, 21, 3001
    x, y, w = t.quarters(rows * width), t.quarters(rows), t.quarters(width)
    expected = [w[p] - 0.25 * sum(x[r * width + p] * y[r] for r in range(rows)) / rows for p in range(width)]
    reply = t.run(x=x, y=y, w=w, rows=rows, lr=0.25, order=list(range(replicas)), y_width=1)
    t.close(reply["w"], expected * replicas, "weights of all replicas")


@hidden("5.3", of="equal shards", test="equal shards of others", title="random rows, as many for each replica", hint="Divide once by the rows of the whole batch.")
def _(t):
    for _ in range(4):
        replicas, each = t.random.randint(1, 6), t.random.randint(1, 5)
        y = t.quarters(replicas * each)
        t.close(public("5.3").step(t, replicas, [1.0] * len(y), y, [0.0])["w"][0], -sum(y) / len(y), "weight of replica 0")


@hidden("5.3", of="shards", test="other shards", title="which rows each replica gets, of random sizes", hint="The first rows % replicas parts have one row more.")
def _(t):
    for most in (2, 3, 4, 5, 6, 1100):
        replicas = t.random.randint(1, most) if most < 1100 else most
        rows = t.random.randint(replicas, 40) if most < 1100 else 2501
        counts = [rows // replicas + (i < rows % replicas) for i in range(replicas)]
        reply = public("5.3").step(t, replicas, [0.0] * rows, [0.0] * rows, [0.0])
        t.equal(reply["firsts"], [sum(counts[:i]) for i in range(replicas)], "first row of each replica")
        t.equal(reply["counts"], counts, "rows of each replica")


@hidden("5.3", of="shards", test="huge batches", title="more numbers than an int counts, more rows than a float counts", hint="Rows and widths are long.")
def _(t):
    for replicas, rows, x_width, y_width in [(4, 2 ** 25 + 3, 1, 1), (3, 10, 2 ** 31 + 1, 2), (4, 10, 3, 2 ** 29 + 1), (3, 2 ** 33 + 4, 1, 1)]:
        counts = [rows // replicas + (i < rows % replicas) for i in range(replicas)]
        public("5.3").places(t, replicas, rows, x_width, y_width, counts)


@hidden("5.3", of="all replicas", test="NaN of others", title="NaN and infinity in one row of several replicas", hint="weight - lr * mean, whatever the mean is.")
def _(t):
    for replicas in (1, 4):
        public("5.3").specials(t, replicas, t.random.randrange(2 * replicas))


@hidden("5.3", of="few rows", test="few rows of others", title="random rows, fewer than replicas", hint="A replica without rows computes no gradient, and changes its weights like others.")
def _(t):
    for replicas in (2, 5, 8):
        y = t.quarters(t.random.randint(1, replicas - 1))
        reply = public("5.3").step(t, replicas, [1.0] * len(y), y, [0.0])
        t.equal(reply["calls"], [1] * len(y) + [0] * (replicas - len(y)), "gradients of each replica")
        t.close(reply["w"], [-sum(y) / len(y)] * replicas, "weights of all replicas")


@hidden("5.3", of="bits", test="bits of more replicas", title="the same bits of six replicas, whichever ends first", hint="Add the gradients up when all are there, from the first to the last.")
def _(t):
    y = [1e8, 3.0, -1e8, 1.0, 5.0, 1e8]
    found = {public("5.3").step(t, 6, [1.0] * 6, y, [0.0], order=t.random.sample(range(6), 6))["w"][0] for _ in range(4)}
    t.check(len(found) == 1, f"the weight depends on the order in which the replicas end: {sorted(found)}")
    for y in ([2.0, 3.0, 1e8, -1e8, 2.0, 3.0, 1e8, -1e8], [-1e8, 3.0, 2.0, 1e8, 1.0], [3.0, 1e8, 2.0, 3.0, -1e8, 1.0, 2.0]):
        total = 0.0
        for each in y:
            total = single(total + each)
        weight = public("5.3").step(t, len(y), [1.0] * len(y), y, [0.0])["w"][0]
        t.close(weight, -total / len(y), f"weight of {len(y)} replicas, added up one after the other,")


@hidden("5.3", of="bits", test="bits of many means", title="the bits of 200 weights, with a learning rate of 0.1", hint="weight - lr * (sum / rows), in this order.")
def _(t):
    lr = single(0.1)
    for rows in (3, 7, 11):
        x = t.floats(rows * 200)
        found = t.run(x=x, y=[1.0] * rows, w=[0.0] * 200, rows=rows, lr=lr, order=list(range(rows)), y_width=1)["w"][:200]
        for p in range(200):
            total = 0.0
            for each in x[p::200]:
                total = single(total + each)
            once = single(-lr * total / rows)  # where sum / rows is kept in double
            t.equal(found[p], once if found[p] == once else single(-lr * single(total / rows)), f"weight {p}, by lr * (sum / rows)")


@hidden("5.3", of="at the same time", test="more at the same time", title="seven replicas compute at the same time", hint="Body i of for_each computes the gradient of replica i.")
def _(t):
    reply = public("5.3").step(t, 7, [1.0] * 15, [1.0] * 15, [0.0], order=t.random.sample(range(7), 7))
    t.equal(reply["bodies"], list(range(7)), "bodies of for_each in which the replicas computed (-1: outside)")
