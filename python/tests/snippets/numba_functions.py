"""Functions of numbers that are compiled: a program for Numba."""

import math

import numpy as np

# was: from numba import njit, vectorize
from gradus import as_tensor, fuse, vectorize
# was: (the body of an njit function calls NumPy)
import gradus.numpy as gnp

x = np.random.rand(100_000)  # 1e7 in the document


# was: @njit
@fuse
def trig(x):
    # was: return np.cos(x) ** 2 + np.sin(x) ** 2
    return gnp.cos(x) ** 2 + gnp.sin(x) ** 2


# was: assert np.allclose(trig(x), 1)
assert np.allclose(trig(as_tensor(x)), 1)


# was: @vectorize(["float64(float64)"], target="parallel")
@vectorize
def trig_of_one(x):
    return math.cos(x) ** 2 + math.sin(x) ** 2


assert np.allclose(trig_of_one(x), 1)


# was: @vectorize(["float64(float64, float64, float64)"])
@vectorize
def discriminant(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return 0.0 * d
    return math.sqrt(d)


a, b, c = (np.random.rand(1000) for _ in range(3))
# was: out = np.empty_like(a)
out = gnp.empty_like(a)
discriminant(a, b, c, out=out)
assert np.allclose(out, np.sqrt(np.maximum(b * b - 4 * a * c, 0)))
