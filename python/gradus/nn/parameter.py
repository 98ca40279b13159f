"""Parameter: a tensor that a module registers when it becomes an attribute."""

from __future__ import annotations

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


_gradus._nn._set_parameter_class(Parameter)
