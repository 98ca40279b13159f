"""Gradus: a deep learning framework in C++ and CUDA, under PyTorch's names."""

inf, nan = float("inf"), float("nan")  # `float` is a dtype below
pi, e = 3.141592653589793, 2.718281828459045

from . import _gradus
from ._gradus import *  # noqa: F403
from ._gradus import Tensor

del nn, optim  # those of C++ alone
from . import _tensor
from ._modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._print import set_printoptions
from . import autograd, cuda, fft, func, linalg, nn, optim, utils
from .serialization import load, save
