"""Hidden tests of task 6.4."""
from judge.testing import hidden


def product(t, m, n, k, high=8):
    a, b = t.quarters(m * k, -high, high), t.quarters(k * n)
    reply = t.run(a=a, b=b, m=m, n=n, k=k)
    t.is_product(reply["c"], a, b, m, n, k)
    return reply


@hidden("6.4", of="edges", test="random sizes", title="random sizes, one of them a multiple of 4",
        hint="Try m, n and k from 1 to 150, with n or k a multiple of 4.")
def _(t):
    for _ in range(2):
        product(t, t.random.randint(1, 150), 4 * t.random.randint(1, 36), t.random.randint(1, 40))
        product(t, t.random.randint(1, 150), t.random.randint(1, 150), 4 * t.random.randint(1, 10))


@hidden("6.4", of="loads", test="larger sizes", title="the loads of several tiles", hint="Try m = n = 256, k = 64.")
def _(t):
    reply = product(t, 256, 256, 64)
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in reply.launches) / 4, 2 * 256 * 256 * 64 / 32,
                  "numbers loaded from global memory")


@hidden("6.4", of="whole tiles", test="larger k", title="k = 520, and 400 rows", hint="Nothing limits m, n and k.")
def _(t):
    product(t, 20, 24, 520)
    product(t, 400, 8, 12)
