"""NumPy's names for gradus: import gradus.numpy as np.

Arrays are tensors, of the class ndarray, on the CPU. Functions have NumPy's names, keywords (axis, keepdims) and
defaults (float64), operators its dtypes; methods of an array are those of gradus. gradus.cupy is the same on
a GPU.

    >>> import gradus.numpy as np
    >>> np.sum(np.array([[1, 2], [3, 4]]), axis=0, keepdims=True)
    tensor([[4, 6]])
"""

from .. import e, inf, nan, pi
from .._gradus import dtype
from .._numpy import _NAMED_DTYPES
from .._numpy import fill as _fill, ndarray as ndarray
from .._numpy_functions import Functions as _Functions

newaxis = None
_functions = _Functions("cpu")
_fill(globals(), _functions)
globals().update(_NAMED_DTYPES, bool_=_NAMED_DTYPES["bool"], int_=_NAMED_DTYPES["int64"], intp=_NAMED_DTYPES["int64"],
                 half=_NAMED_DTYPES["float16"], single=_NAMED_DTYPES["float32"], double=_NAMED_DTYPES["float64"])

from . import fft, linalg, random, testing
from ._grids import c_ as c_, mgrid as mgrid, ogrid as ogrid, r_ as r_
