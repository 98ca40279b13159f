"""Hidden tests of task 5.3."""
from judge.testing import hidden


@hidden("5.3", of="mean", test="random batches", title="random batches", hint="Try 11 rows on 4 replicas.")
def _(t):
    for _ in range(8):
        replicas, rows, width = t.random.randint(1, 6), t.random.randint(1, 20), t.random.randint(1, 4)
        x, y, w = t.whole(rows * width), t.whole(rows), t.whole(width)
        order = list(range(replicas))
        t.random.shuffle(order)
        expected = [w[p] - 0.25 * sum(x[r * width + p] * y[r] for r in range(rows)) / rows for p in range(width)]
        reply = t.run(x=x, y=y, w=w, rows=rows, lr=0.25, order=order, y_width=1)
        t.close(reply["w"], expected * replicas, "weights of all replicas")
