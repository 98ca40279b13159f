"""Hidden tests of task 5.5."""
from judge.testing import hidden, public


@hidden("5.5", of="both", test="random costs", title="random rings", hint="Try 12345 bytes in 7 ranks.")
def _(t):
    for _ in range(20):
        size, ranks = t.random.randint(0, 10**9), t.random.randint(1, 200)
        nanoseconds, rate = t.random.randint(0, 50000), t.random.randint(10**8, 10**11)
        expected = 2 * (ranks - 1) * (nanoseconds * 1000 + 1e12 * size / ranks / rate)
        found = t.run(bytes=size, ranks=ranks, nanoseconds=nanoseconds, rate=rate)["picoseconds"][0]
        t.check(abs(found - expected) <= 2 + expected * 1e-9, f"time: found {found / 1e6:g} us, expected {expected / 1e6:g} us")


@hidden("5.5", of="rate", test="many bytes", title="5 GB and more in several ranks", hint="The number of bytes is a long: divide it as a double.")
def _(t):
    for size, ranks, rate in [(5 * 10**9, 2, 10**10), (5 * 10**9, 8, 10**10), (3 * 10**10, 64, 10**10), (5 * 10**18, 2, 10**15), (9 * 10**18, 1000, 10**15)]:
        expected = 2 * (ranks - 1) * 1e12 * size / ranks / rate
        found = t.run(bytes=size, ranks=ranks, nanoseconds=0, rate=rate)["picoseconds"][0]
        t.check(abs(found - expected) <= 2 + expected * 1e-9, f"time: found {found / 1e6:g} us, expected {expected / 1e6:g} us")


@hidden("5.5", of="latency", test="other latencies", title="messages without bytes in random rings", hint="There are N - 1 steps that add and N - 1 that hand on.")
def _(t):
    for _ in range(8):
        ranks, nanoseconds = t.random.randint(2, 300), t.random.randint(1, 90000)
        public("5.5").times(t, [(0, ranks, nanoseconds, 10**9, 2000 * (ranks - 1) * nanoseconds)])


@hidden("5.5", of="one rank", test="one rank of others", title="random bytes for one rank", hint="A ring of one has no steps.")
def _(t):
    for _ in range(5):
        public("5.5").times(t, [(t.random.randint(1, 10**10), 1, t.random.randint(0, 9999), t.random.randint(1, 10**9), 0)])


@hidden("5.5", of="fractions", test="other fractions", title="few bytes in many ranks", hint="Divide as double.")
def _(t):
    for _ in range(8):
        size, ranks = t.random.randint(1, 60), t.random.randint(2, 99)
        public("5.5").times(t, [(size, ranks, 0, 10**9, 2000 * (ranks - 1) * size / ranks)])
