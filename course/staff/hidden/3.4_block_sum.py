"""Hidden tests of task 3.4."""
from judge.testing import hidden


@hidden("3.4", of="tail", test="random lengths", title="random lengths", hint="Try lengths up to 6000.")
def _(t):
    for n in sorted(t.random.randint(1, 6000) for _ in range(6)):
        x = t.quarters(n, -999, 999)
        t.equal(t.run(x=x)["sums"], [sum(x[i:i + 256]) for i in range(0, n, 256)], "sums")


@hidden("3.4", of="tree", test="larger tree", title="wavefronts of more blocks", hint="Try 10 blocks.")
def _(t):
    reply = t.run(x=t.quarters(10 * 256), findings=True)
    if not t.on_gpu:
        t.check(reply.total("barriers") >= 10 and reply.total("shared_loads") > 0, "no exchange through shared memory")
        t.at_most(reply.total("shared_wavefronts"), 10 * 45, "wavefronts of shared memory", reply.worst("wavefronts"))


@hidden("3.4", of="several blocks", test="many blocks", title="270,000 elements, in one launch", hint="As many blocks as the elements need.")
def _(t):
    x = t.quarters(270011)
    reply = t.run(x=x)
    t.equal(reply["sums"], [sum(x[i:i + 256]) for i in range(0, len(x), 256)], "sums")
    if not t.on_gpu:
        t.at_most(len(reply.launches), 1, "launches")


@hidden("3.4", of="fractions", test="not finite", title="infinity at the end", hint="0 stands where no element is: a product with 0 may be NaN.")
def _(t):
    inf = float("inf")
    t.equal(t.run(x=[1.5] * 300 + [inf])["sums"], [384.0, inf], "sums")
