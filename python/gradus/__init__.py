"""Gradus: a deep learning framework in C++ and CUDA, under PyTorch's names."""

import sys

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError("gradus needs a Python with the GIL; this one is free-threaded. "
                      "Use the build of Python whose name does not end in t.")
del sys

inf, nan = float("inf"), float("nan")  # `float` is a dtype below
pi, e = 3.141592653589793, 2.718281828459045

from . import _gradus
from ._gradus import *  # noqa: F403
from ._gradus import Tensor, __version__

from . import _tensor
from ._modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._print import set_printoptions
from ._forms import *  # noqa: F403
from . import amp, autograd, backends, cuda, fft, func, linalg, nn, optim, utils
from .amp import autocast
from .serialization import load, save


def __getattr__(name):
    """Rows whose names begin with an underscore."""
    if name.startswith("_") and hasattr(_gradus, name):
        return getattr(_gradus, name)
    raise AttributeError(f"module 'gradus' has no attribute {name!r}")
