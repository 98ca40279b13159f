"""Hidden tests of task 3.7."""
from judge.testing import hidden


def product(t, m, n, k):
    a, b = t.whole(m * k), t.whole(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@hidden("3.7", of="edges of c", test="random edges", title="random m and n", hint="Try m and n from 1 to 70, k = 16.")
def _(t):
    for _ in range(4):
        product(t, t.random.randint(1, 70), t.random.randint(1, 70), 16)


@hidden("3.7", of="long k", test="longer k", title="more steps, and the loads of all of them", hint="Try k = 96.")
def _(t):
    m, n, k = 48, 32, 96
    reply = product(t, m, n, k)
    if not t.on_gpu and reply.total("shared_loads") > 0:
        t.at_most(reply.total("global_loads"), 2 * m * n * k / 16, "loads from global memory")
