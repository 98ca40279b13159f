"""Tests of task 5.5."""
from judge.testing import task

T = task("5.5", "What a ring costs", 10, "5_parallel/5.5_cost.cpp", exports=["course::ring_time"])

GIGA, MEGA, KILO = 10**9, 10**6, 10**3


def times(t, cases):
    """Each case: bytes, ranks, latency in nanoseconds, rate in bytes a second, and the time in picoseconds."""
    for size, ranks, nanoseconds, rate, expected in cases:
        found = t.run(bytes=size, ranks=ranks, nanoseconds=nanoseconds, rate=rate)["picoseconds"][0]
        t.check(abs(found - expected) <= 1 + expected * 1e-9, f"time: found {found / 1e6:g} us, expected {expected / 1e6:g} us")


@T.test(2, "latency", "messages without bytes", hint="There are N - 1 steps that add and N - 1 that hand on; each has a latency.")
def _(t):
    times(t, [(0, 2, 1000, GIGA, 2 * MEGA), (0, 3, 500, GIGA, 2 * MEGA), (0, 8, 2000, GIGA, 28 * MEGA), (0, 64, 10, GIGA, 1260 * KILO)])


@T.test(2, "rate", "links without latency", hint="A step moves one part, which is 1 / N of the bytes.")
def _(t):
    times(t, [(1000, 2, 0, GIGA, MEGA), (3000, 3, 0, GIGA, 4 * MEGA), (4 * MEGA, 4, 0, 2 * GIGA, 3000 * MEGA),
              (MEGA, 10, 0, 100 * MEGA, 18000 * MEGA)])


@T.test(2, "both", "latency and rate", hint="The time of a step is the sum of both.")
def _(t):
    times(t, [(1000, 2, 1000, GIGA, 3 * MEGA), (4000, 4, 5000, 100 * MEGA, 90 * MEGA), (8 * MEGA, 8, 2500, 25 * GIGA, 595 * MEGA),
              (100 * MEGA, 16, 10000, 50 * GIGA, 4050 * MEGA)])


@T.test(2, "one rank", "nothing to do for one rank", hint="A ring of one has no steps.")
def _(t):
    times(t, [(0, 1, 1000, GIGA, 0), (1000, 1, 0, GIGA, 0), (5 * GIGA, 1, 9000, MEGA, 0), (7, 1, 1, 3, 0)])


@T.test(2, "fractions", "parts that are no whole number of bytes", hint="Divide as double: 10 bytes in 4 parts are 2.5 bytes each.")
def _(t):
    times(t, [(10, 4, 0, GIGA, 15 * KILO), (1, 2, 0, GIGA, KILO), (7, 8, 1, GIGA, 26250), (100, 3, 100, 2 * GIGA, 466667)])
