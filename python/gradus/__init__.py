"""Gradus: a deep learning framework in C++ and CUDA, under PyTorch's names."""

import sys as _sys

if "t" in getattr(_sys, "abiflags", ""):
    raise ImportError("gradus needs a Python with the GIL; this one is free-threaded. "
                      "Use the build of Python whose name does not end in t.")

inf, nan = float("inf"), float("nan")  # `float` is a dtype below
pi, e = 3.141592653589793, 2.718281828459045

from . import _gradus
from ._gradus import *  # noqa: F403
from ._gradus import Error as Error, Tensor as Tensor, __version__ as __version__

# "as" tells type checkers that a name is one of this module.
from . import _html, _tensor
from ._modes import enable_grad as enable_grad, inference_mode as inference_mode
from ._modes import no_grad as no_grad, set_batch_invariant_mode as set_batch_invariant_mode
from ._modes import set_grad_enabled as set_grad_enabled
from ._print import set_printoptions as set_printoptions
from ._forms import *  # type: ignore[no-redef, assignment]  # noqa: F403
from ._tensor_types import *  # noqa: F403
from ._foreach import _foreach_add_ as _foreach_add_, _foreach_mul_ as _foreach_mul_, _foreach_norm as _foreach_norm
from . import amp as amp, autograd as autograd, backends as backends, cuda as cuda, distributed as distributed, fft as fft
from . import accelerator as accelerator, random as random, testing as testing, version as version
from . import func as func, linalg as linalg, metrics as metrics, nn as nn, optim as optim
from . import profiler as profiler, sim as sim, special as special, utils as utils, watch as watch
from ._fuse import fuse as fuse, vectorize as vectorize
from .amp import autocast as autocast
from .func import vmap as vmap
from .serialization import load as load, save as save
from ._signature import show_signatures as _show_signatures

_show_signatures(nn.Module, optim.Optimizer)

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import distributions as distributions, multiprocessing as multiprocessing
del TYPE_CHECKING

_parts = ("cupy", "distributions", "multiprocessing", "numpy")  # imported when they are first used


def cmake_prefix_path() -> str:
    """The folder that CMAKE_PREFIX_PATH names so that find_package(gradus) finds the library of this package.

    Errors: Error where the package was built against a library that was installed elsewhere.
    """
    import pathlib

    folder = pathlib.Path(__file__).resolve().parent
    if not (folder / "lib/cmake/gradus/gradus-config.cmake").exists():
        raise Error("cmake_prefix_path: this package holds no CMake package, for it was built against a "
                    "library elsewhere; use the folder where that was installed")
    return str(folder)


def __getattr__(name: str) -> object:
    """Rows whose names begin with an underscore, and the parts that are imported when they are first used."""
    if name in _parts:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    if name.startswith("_") and hasattr(_gradus, name):
        return getattr(_gradus, name)
    raise AttributeError(f"module 'gradus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(_sys.modules[__name__]), *_parts})
