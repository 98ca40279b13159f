"""Tensors within lists, tuples and dictionaries: as a flat list, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .._gradus import Tensor


def flatten(value: Any, tensors: list[Tensor]) -> Any:
    """What the value is without its tensors, which are added to the list."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return Tensor
    if isinstance(value, dict):
        return type(value), [(name, flatten(each, tensors)) for name, each in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [flatten(each, tensors) for each in value]
    return None, value


def unflatten(shape: Any, tensors: Iterator[Tensor]) -> Any:
    """The value again, with the tensors of an iterator."""
    if shape is Tensor:
        return next(tensors)
    kind, parts = shape
    if kind is None:
        return parts
    if issubclass(kind, dict):
        return kind((name, unflatten(each, tensors)) for name, each in parts)
    values = [unflatten(each, tensors) for each in parts]
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def flat(value: Any, tensors: list[Any]) -> Callable[[Iterator[Any]], Any]:
    """Adds the tensors of a value to the list; returns the function that makes the value of others."""
    shape = flatten(value, tensors)
    return lambda others: unflatten(shape, others)
