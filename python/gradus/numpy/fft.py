"""Fourier transforms under the names of numpy.fft."""

from .._numpy import fill as _fill
from . import _functions

_fill(globals(), _functions, "fft_")
