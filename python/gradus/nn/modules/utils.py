"""One number for all dimensions, under the names of torch.nn.modules.utils."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of what can be iterated, and n times a number."""
    return lambda x: tuple(x) if isinstance(x, Iterable) else (x,) * n


_single, _pair, _triple, _quadruple = _ntuple(1), _ntuple(2), _ntuple(3), _ntuple(4)
