#!/usr/bin/env python3
"""Writes special.txt: special functions by mpmath, to more digits than float64 has.

Lines as make.py's: `FUNCTION = float64 [N,2] X Y X Y ...`, Y rounded once from the exact value. Of
functions of two numbers `FUNCTION = float64 [N,3] X1 X2 Y ...`.
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
POLES = ("lgamma", "digamma", "polygamma1", "polygamma2", "polygamma3", "polygamma7")
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


def normal_quantile(p):
    """The root of a function that is nearly linear, for digits in both tails."""
    log_share = lambda t: mpmath.log(mpmath.erfc(-t / mpmath.sqrt(2)) / 2)
    if p > 0.5:
        return -normal_quantile(1 - p)
    start = -mpmath.sqrt(-2 * mpmath.log(p)) if p < 1e-3 else mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)
    return mpmath.findroot(lambda t: log_share(t) - mpmath.log(p), start) if p != 0.5 else mpf(0)


FUNCTIONS |= {
    "erfcx": (lambda x: mpmath.erfc(x) * mpmath.exp(x * x), evenly(-9, 30, 80) + evenly(-26, 26, 40)
              + spread(1e-10, 1e30, 40) + near(9) + near(26)),
    "ndtri": (normal_quantile, evenly(0, 1, 80) + spread(1e-36, 0.5, 60) + near(0.5)),
    "log_ndtr": (lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
                 evenly(-40, 8, 80) + evenly(-2, 2, 40) + evenly(-4000, 0, 20) + near(-1)),
    "entr": (lambda x: -x * mpmath.log(x), spread(1e-30, 1e30, 60) + near(1)),
}
for n in (0, 1):
    waves = spread(1e-5, 1e6, 60) + evenly(0.01, 60, 60)
    falling = spread(1e-12, 80, 80) + evenly(1, 80, 40) + spread(5e-10, 2e-9, 10) + near(100)
    FUNCTIONS |= {
        f"i{n}e": (lambda x, n=n: mpmath.besseli(n, x) * mpmath.exp(-abs(x)),
                   spread(1e-10, 1e6, 60) + evenly(-60, 60, 60) + near(20)),
        f"bessel_j{n}": (lambda x, n=n: mpmath.besselj(n, x), waves + evenly(-20, 0, 20)),
        f"bessel_y{n}": (lambda x, n=n: mpmath.bessely(n, x), waves),
        f"bessel_k{n}": (lambda x, n=n: mpmath.besselk(n, x), falling),
        f"scaled_bessel_k{n}": (lambda x, n=n: mpmath.besselk(n, x) * mpmath.exp(x),
                                falling + spread(50, 1e7, 40)),
    }

SHAPES = spread(1e-4, 1e5, 120)
NEAR_SHAPES = [(a, float32(abs(a * (1 + random.gauss(0, 2) / max(a, 1) ** 0.5)) + 1e-6))
               for a in SHAPES]
SHARES = NEAR_SHAPES + list(zip(spread(0.01, 100, 80), spread(0.01, 500, 80)))
OF_TWO = {
    "zeta": (mpmath.zeta, list(zip(evenly(1.01, 20, 60) + [2.0, 3.0, 4.0, 7.0] * 10,
                                   spread(1e-3, 1e2, 60) + evenly(-6, 6, 40)))),
    "igamma": (lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), SHARES),
    "igammac": (lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True), SHARES),
}


def main():
    lines = []
    for name, (f, points) in OF_TWO.items():
        numbers = [repr(v) for x, y in points for v in (x, y, float(f(mpf(x), mpf(y)).real))]
        lines.append(f"{name} = float64 [{len(points)},3] " + " ".join(numbers))
    for name, (f, points) in FUNCTIONS.items():
        numbers = []
        for x in points:
            if x <= 0 and x == int(x) and name in POLES:
                continue
            numbers += [repr(x), repr(float(f(mpf(x))))]
        lines.append(f"{name} = float64 [{len(numbers) // 2},2] " + " ".join(numbers))
    (pathlib.Path(__file__).resolve().parent / "special.txt").write_text(
        "\n".join(["# Values of special functions, written by make_special.py.", *lines, ""]))


main()
