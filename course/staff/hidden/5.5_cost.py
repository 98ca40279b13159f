"""Hidden tests of task 5.5."""
from judge.testing import hidden


@hidden("5.5", of="both", test="random costs", title="random rings", hint="Try 12345 bytes in 7 ranks.")
def _(t):
    for _ in range(20):
        size, ranks = t.random.randint(0, 10**9), t.random.randint(1, 200)
        nanoseconds, rate = t.random.randint(0, 50000), t.random.randint(10**8, 10**11)
        expected = 2 * (ranks - 1) * (nanoseconds * 1000 + 1e12 * size / ranks / rate)
        found = t.run(bytes=size, ranks=ranks, nanoseconds=nanoseconds, rate=rate)["picoseconds"][0]
        t.check(abs(found - expected) <= 2 + expected * 1e-9, f"time: found {found / 1e6:g} us, expected {expected / 1e6:g} us")


@hidden("5.5", of="rate", test="many bytes", title="5 GB in several ranks", hint="The number of bytes is a long: divide it as a double.")
def _(t):
    for size, ranks in [(5 * 10**9, 2), (5 * 10**9, 8), (3 * 10**10, 64)]:
        expected = 2 * (ranks - 1) * 1e12 * size / ranks / 10**10
        found = t.run(bytes=size, ranks=ranks, nanoseconds=0, rate=10**10)["picoseconds"][0]
        t.check(abs(found - expected) <= 2 + expected * 1e-9, f"time: found {found / 1e6:g} us, expected {expected / 1e6:g} us")
