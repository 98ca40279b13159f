"""Gradus: a deep learning framework in C++ and CUDA, under PyTorch's names."""

inf, nan = float("inf"), float("nan")  # `float` is a dtype below
pi, e = 3.141592653589793, 2.718281828459045

from . import _gradus
from ._gradus import *  # noqa: F403
from ._gradus import Tensor as Tensor, __version__ as __version__

# "as" tells type checkers that a name is one of this module.
from . import _tensor
from ._modes import enable_grad as enable_grad, inference_mode as inference_mode
from ._modes import no_grad as no_grad, set_grad_enabled as set_grad_enabled
from ._print import set_printoptions as set_printoptions
from . import amp as amp, autograd as autograd, cuda as cuda, fft as fft, func as func
from . import linalg as linalg, nn as nn, optim as optim, utils as utils
from .amp import autocast as autocast
from .serialization import load as load, save as save


def __getattr__(name: str) -> object:
    """Rows whose names begin with an underscore."""
    if name.startswith("_") and hasattr(_gradus, name):
        return getattr(_gradus, name)
    raise AttributeError(f"module 'gradus' has no attribute {name!r}")
