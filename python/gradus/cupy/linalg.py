"""Linear algebra under the names of numpy.linalg."""

from .._numpy import fill as _fill
from . import _functions

_fill(globals(), _functions, "linalg_")
