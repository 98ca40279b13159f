"""NumPy's names for gradus: import gradus.numpy as np.

Arrays are gradus.Tensor, on the CPU. Functions have NumPy's names, keywords (axis, keepdims) and
defaults (float64); methods and operators of an array are those of gradus. gradus.cupy is the same on
a GPU.
"""

from .. import e, inf, nan, pi
from .._gradus import Tensor as ndarray
from .._gradus import dtype
from .._numpy import _NAMED_DTYPES
from .._numpy import fill as _fill
from .._numpy_functions import Functions as _Functions

newaxis = None
_functions = _Functions("cpu")
_fill(globals(), _functions)
globals().update(_NAMED_DTYPES, bool_=_NAMED_DTYPES["bool"])

from . import fft, linalg, random
