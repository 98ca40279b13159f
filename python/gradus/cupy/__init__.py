"""CuPy's names for gradus: import gradus.cupy as cp.

Arrays are tensors, of the class ndarray, on the current GPU. Functions have NumPy's names, keywords (axis, keepdims) and
defaults (float64), operators its dtypes; methods of an array are those of gradus. gradus.numpy is the same on
the CPU. Kernels of one's own are those of gradus.cuda.
"""

from .. import e, inf, nan, pi
from .._fuse import fuse
from .._gradus import dtype
from .._numpy import _NAMED_DTYPES
from .._numpy import fill as _fill, ndarray as ndarray
from ..cuda import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from .._numpy_functions import Functions as _Functions

newaxis = None
_functions = _Functions("cuda")
_fill(globals(), _functions)
globals().update(_NAMED_DTYPES, bool_=_NAMED_DTYPES["bool"], int_=_NAMED_DTYPES["int64"], intp=_NAMED_DTYPES["int64"],
                 half=_NAMED_DTYPES["float16"], single=_NAMED_DTYPES["float32"], double=_NAMED_DTYPES["float64"])

from . import cuda, fft, linalg, random, testing
from ._grids import c_ as c_, mgrid as mgrid, ogrid as ogrid, r_ as r_
from ._names import get_array_module as get_array_module, get_default_memory_pool as get_default_memory_pool
