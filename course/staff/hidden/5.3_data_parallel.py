"""Hidden tests of task 5.3."""
from judge.testing import hidden


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


@hidden("5.3", of="all replicas", test="many weights", title="1,000 weights, 20 replicas", hint="Nothing limits the number of weights.")
def _(t):
    replicas, rows, width = 20, 21, 1003
    x, y, w = t.quarters(rows * width), t.quarters(rows), t.quarters(width)
    expected = [w[p] - 0.25 * sum(x[r * width + p] * y[r] for r in range(rows)) / rows for p in range(width)]
    reply = t.run(x=x, y=y, w=w, rows=rows, lr=0.25, order=list(range(replicas)), y_width=1)
    t.close(reply["w"], expected * replicas, "weights of all replicas")
