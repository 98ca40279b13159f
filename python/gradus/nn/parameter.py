"""Parameter and Buffer: tensors that a module registers when they become attributes."""

from __future__ import annotations

import functools
from typing import Any

from .. import _gradus


class Parameter(_gradus.Tensor):
    """A tensor over the memory of `data` that a module trains.

    Assigning it to an attribute of a module registers it there.

    >>> import gradus
    >>> from gradus import nn
    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Parameter(gradus.ones(1))
    >>> [name for name, _ in Scale().named_parameters()]
    ['factor']
    """

    def __new__(cls, data: _gradus.Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = _gradus.empty(0)
        return _gradus._nn._make_parameter(cls, data, requires_grad)

    def __init__(self, data: _gradus.Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


class Buffer(_gradus.Tensor):
    """A tensor over the memory of `data` that a module keeps and does not train.

    Assigning it to an attribute of a module registers it there. persistent: state_dict() has it.
    """

    persistent: bool

    def __new__(cls, data: _gradus.Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = _gradus.empty(0)
        made = _gradus._nn._make_parameter(cls, data, data.requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, data: _gradus.Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        copied = memo[id(self)] = Buffer(self.detach().clone().requires_grad_(self.requires_grad), persistent=self.persistent)
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        data: Any = self.detach().requires_grad_(self.requires_grad)
        return functools.partial(Buffer, persistent=self.persistent), (data,)


_gradus._nn._set_parameter_class(Parameter)
_gradus._nn._set_buffer_class(Buffer)
