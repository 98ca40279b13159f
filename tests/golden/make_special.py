#!/usr/bin/env python3
"""Writes special.inc: special functions by mpmath, to more digits than float64 has.

Lines as make.py's: `FUNCTION = float64 [N,2] X Y X Y ...`, Y rounded once from the exact value.
"""
import pathlib
import random
import struct

import mpmath
from mpmath import mp, mpf

mp.dps = 60
random.seed(1)


def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def spread(low, high, count):
    """Numbers of float32 whose logarithms are spread evenly."""
    return [float32(low * (high / low) ** random.random()) for _ in range(count)]


def evenly(low, high, count):
    return [float32(random.uniform(low, high)) for _ in range(count)]


def near(x, count=8):
    """x, and numbers about it that come closer and closer."""
    return [float32(x + sign * 2.0 ** -k) for k in range(3, 3 + 2 * count, 2) for sign in (-1, 1)]


def polygamma(n):
    return lambda x: mpmath.polygamma(n, x)


BELOW_ZERO = evenly(-12, 0, 60) + [x for k in (-1, -2, -7) for x in near(k)]
FUNCTIONS = {
    "erfinv": (mpmath.erfinv, spread(1e-30, 1, 60) + evenly(-1, 1, 60)
               + [s * (1 - 2.0 ** -k) for k in range(1, 54, 2) for s in (-1, 1)]),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))),
               spread(1e-30, 1e30, 80) + evenly(0, 5, 60) + near(1) + near(2) + BELOW_ZERO
               + near(-2.4570247382208006) + near(-3.9552942848585979)),
    "digamma": (mpmath.digamma, spread(1e-30, 1e30, 80) + evenly(0, 15, 60)
                + near(1.4616321449683623) + BELOW_ZERO),
    "i0": (lambda x: mpmath.besseli(0, x), spread(1e-10, 80, 60) + evenly(-30, 30, 60)
           + near(20) + [100.0, 500.0, 700.0, 710.0]),
    "i1": (lambda x: mpmath.besseli(1, x), spread(1e-10, 80, 60) + evenly(-30, 30, 60)
           + near(20) + [100.0, 500.0, 700.0, 710.0]),
}
for n in (1, 2, 3, 7):
    FUNCTIONS[f"polygamma{n}"] = (polygamma(n), spread(1e-3, 1e5, 60) + evenly(0, 15, 40)
                                  + evenly(-6, 0, 40))


def main():
    lines = []
    for name, (f, points) in FUNCTIONS.items():
        numbers = []
        for x in points:
            if x <= 0 and x == int(x) and name not in ("erfinv", "i0", "i1"):
                continue  # a pole
            numbers += [repr(x), repr(float(f(mpf(x))))]
        lines.append(f"{name} = float64 [{len(numbers) // 2},2] " + " ".join(numbers))
    text = "\n".join(lines)
    (pathlib.Path(__file__).resolve().parent / "special.inc").write_text(
        f'R"golden(\n{text}\n)golden"\n')


main()
