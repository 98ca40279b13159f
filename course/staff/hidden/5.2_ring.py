"""Hidden tests of task 5.2."""
from judge.testing import hidden


@hidden("5.2", of="remainder", test="random sizes", title="random sizes", hint="Try 8 ranks and 100 numbers.")
def _(t):
    for _ in range(15):
        ranks, n = t.random.randint(2, 12), t.random.randint(0, 120)
        data, order = t.whole(ranks * n), list(range(ranks))
        t.random.shuffle(order)
        found = t.run(ranks=ranks, data=data, order=order)["data"]
        t.equal(found, [sum(data[i::n]) for i in range(n)] * ranks, "data of all ranks")


@hidden("5.2", of="bytes", test="bytes of random sizes", title="bytes of all ranks together", hint="Try 5 ranks and 13 numbers.")
def _(t):
    for _ in range(6):
        ranks, n = t.random.randint(2, 9), t.random.randint(1, 50)
        reply = t.run(ranks=ranks, data=t.whole(ranks * n), order=list(range(ranks)))
        t.equal(sum(reply["sent"]), 2 * (ranks - 1) * n * 4, "bytes")
