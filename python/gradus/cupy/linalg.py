"""Linear algebra under the names of numpy.linalg."""

from .._numpy import fill as _fill
from .._gradus import LinAlgError as LinAlgError
from . import _functions

matrix_transpose, tensordot = _functions.matrix_transpose, _functions.tensordot
_fill(globals(), _functions, "linalg_")
