"""Hidden tests of task 6.4."""
import math

from judge.testing import hidden, public


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


@hidden("6.4", of="edges", test="not finite", title="0 times infinity is NaN, in its own row and column alone",
        hint="Leave no product out, and multiply nothing that lies outside: 0 times infinity is NaN.")
def _(t):
    inf, nan = math.inf, math.nan
    reply = t.run(a=[0.0, 1.0, 2.0, inf], b=[inf, 3.0, 2.0, inf], m=2, n=2, k=2)
    t.equal(reply["c"], [nan, inf, inf, inf], "c")


@hidden("6.4", of="loads", test="larger sizes", title="the loads of several tiles", hint="Try m = n = 256, k = 64.")
def _(t):
    reply = product(t, 256, 256, 64)
    if not t.on_gpu:
        t.at_most(sum(each.global_load_bytes for each in reply.launches) / 4, 2 * 256 * 256 * 64 / 32,
                  "numbers loaded from global memory")


@hidden("6.4", of="whole tiles", test="larger k", title="k = 520, 400 rows, and m, n or k above 1,024", hint="Nothing limits m, n and k.")
def _(t):
    product(t, 20, 24, 520)
    product(t, 400, 8, 12)
    for m, n, k in [(1030, 4, 4), (4, 1032, 4), (4, 4, 1100)]:
        product(t, m, n, k)


@hidden("6.4", of="twice", test="twice in a row", title="three products of one size, with other numbers", hint="Compute the product at each call.")
def _(t):
    for _ in range(3):
        product(t, 64, 96, 12)


@hidden("6.4", of="precision", test="precision of other sizes", title="all 24 bits of a float count", hint="Half precision and TF32 have 11 bits.")
def _(t):
    for m, n, k in [(64, 64, 33), (130, 5, 8), (256, 128, 16)]:
        a, b = t.whole(m * k, -4095, 4095), t.whole(k * n)
        t.is_product(t.run(a=a, b=b, m=m, n=n, k=k)["c"], a, b, m, n, k)
    for rows, k in [(3, 5), (130, 16), (64, 32)]:
        for b_is_it in (True, False):
            public("6.4").by_identity(t, rows, k, b_is_it)


def large(t):
    return product(t, 256, 128, 96).launches


@hidden("6.4", of="loads a product", test="loads a product of larger sizes", title="at most one load for 4 multiplications, of 256 x 128 x 96", hint="A thread that makes 8 x 8 outputs multiplies 64 times for 16 numbers.")
def _(t):
    if not t.on_gpu:
        t.at_most(sum(each.shared_loads + each.global_loads for each in large(t)), 256 * 128 * 96 / 4, "loads")


@hidden("6.4", of="vectors", test="vectors of larger sizes", title="16 bytes each, of 256 x 128 x 96", hint="Where rows begin at multiples of 16 bytes: reinterpret_cast<const float4*>.")
def _(t):
    for launch in large(t):
        t.at_most(launch.global_loads, launch.global_load_bytes / 16, "loads from global memory")
        t.at_most(launch.global_stores, launch.global_store_bytes / 16, "stores to global memory")


@hidden("6.4", of="banks", test="banks of larger sizes", title="no bank conflicts, of 256 x 128 x 96", hint="Let threads that store together meet different banks: an access of 16 bytes serves 8 of them at a time.")
def _(t):
    for launch in large(t):
        t.at_most(launch.shared_wavefronts, launch.least_wavefronts, "wavefronts of shared memory", launch.worst_wavefronts)
