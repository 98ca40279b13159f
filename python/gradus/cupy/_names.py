"""Names of CuPy that NumPy does not have."""

from __future__ import annotations

import types
from typing import Any

from .. import _gradus
from .cuda import MemoryPool

_pool = MemoryPool()


def get_array_module(*args: Any) -> types.ModuleType:
    """gradus.cupy where one of the arguments is a tensor on a GPU, otherwise gradus.numpy."""
    from .. import cupy, numpy
    return cupy if any(isinstance(each, _gradus.Tensor) and each.is_cuda for each in args) else numpy


def get_default_memory_pool() -> MemoryPool:
    """The memory of the current GPU that gradus holds: used_bytes(), total_bytes(), free_all_blocks()."""
    return _pool
