"""CuPy's names for gradus: import gradus.cupy as cp.

Arrays are gradus.Tensor, on the current GPU. Functions have NumPy's names, keywords (axis, keepdims) and
defaults (float64); methods and operators of an array are those of gradus. gradus.numpy is the same on
the CPU. Kernels of one's own are those of gradus.cuda.
"""

from .. import cuda, e, inf, nan, pi
from .._fuse import fuse
from .._gradus import Tensor as ndarray
from .._gradus import dtype
from .._numpy import _NAMED_DTYPES
from .._numpy import fill as _fill
from ..cuda import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from .._numpy_functions import Functions as _Functions

newaxis = None
_functions = _Functions("cuda")
_fill(globals(), _functions)
globals().update(_NAMED_DTYPES, bool_=_NAMED_DTYPES["bool"])

from . import fft, linalg, random
