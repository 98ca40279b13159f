"""Derivatives of functions, under the names of torch.autograd.functional."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from .. import _gradus
from .._gradus import Tensor
from .._modes import enable_grad

_Tensors = Union[Tensor, Sequence[Tensor]]


def jacobian(func: Callable[..., Any], inputs: _Tensors, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """The derivatives of each element of func(*inputs) with respect to each of the inputs.

    vectorize, strategy: taken, without effect on the result.

    >>> import gradus
    >>> gradus.autograd.functional.jacobian(lambda x: x ** 2, gradus.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    return _gradus._jacobian(func, inputs, create_graph, strict)


def hessian(func: Callable[..., Any], inputs: _Tensors, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The second derivatives of func(*inputs), which is one number.

    vectorize, outer_jacobian_strategy: taken, without effect on the result.
    """
    return _gradus._hessian(func, inputs, create_graph, strict)


def vjp(func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None,
        create_graph: bool = False) -> tuple[Any, Any]:
    """func(*inputs), and v times its Jacobian."""
    return _gradus._vjp(func, inputs, v, create_graph)


def jvp(func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None,
        create_graph: bool = False) -> tuple[Any, Any]:
    """func(*inputs), and its Jacobian times v."""
    return _gradus._jvp(func, inputs, v, create_graph)


def hvp(func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """func(*inputs), which is one number, and its second derivatives times v."""
    one = isinstance(inputs, Tensor)
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    weights = [_gradus.ones_like(x) for x in given] if v is None else [v] if isinstance(v, Tensor) else list(v)
    with enable_grad():
        given = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given]
        value = func(*given)
        first = [_gradus.zeros_like(x) if g is None else g
                 for g, x in zip(_gradus._grad(value, given, None, True, True, True), given)]
        along: Any = sum((g * w).sum() for g, w in zip(first, weights))
        if along.requires_grad:
            second = [_gradus.zeros_like(x) if g is None else g
                      for g, x in zip(_gradus._grad(along, given, None, True, create_graph, True), given)]
        else:
            second = [_gradus.zeros_like(x) for x in given]
    if not create_graph:
        value, second = value.detach(), [g.detach() for g in second]
    return value, second[0] if one else tuple(second)


vhp = hvp  # the second derivatives are symmetric
