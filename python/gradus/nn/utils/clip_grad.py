"""Gradients kept within limits, under the names of torch.nn.utils.clip_grad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from ... import _gradus
from ..._gradus import Tensor
from ..._modes import no_grad

_Tensors = Union[Tensor, Iterable[Tensor]]


def _list(tensors: _Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


@no_grad()
def get_total_norm(tensors: _Tensors, norm_type: float | str = 2.0, error_if_nonfinite: bool = False,
                   foreach: bool | None = None) -> Tensor:
    """The norm of the elements of all tensors together. foreach: taken, without effect.

    norm_type: its order; "inf" or infinity: the greatest absolute value.
    error_if_nonfinite: Error where it is infinite or no number.
    """
    order = float(norm_type)
    norms = [_gradus.linalg_vector_norm(each.detach(), order) for each in _list(tensors)]
    if not norms:
        return _gradus.tensor(0.0)
    total = _gradus.linalg_vector_norm(_gradus.stack([norm.to(norms[0].device) for norm in norms]), order)
    if error_if_nonfinite and not total.isfinite():
        raise _gradus.Error(f"get_total_norm: the norm of order {order} is {total.item()}; expected a finite one, or "
                            "error_if_nonfinite=False")
    return total


@no_grad()
def clip_grads_with_norm_(parameters: _Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scales the gradients by max_norm / total_norm where that is below 1. foreach: taken, without effect."""
    scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for parameter in _list(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(scale.to(parameter.grad.device))


def clip_grad_norm_(parameters: _Tensors, max_norm: float, norm_type: float | str = 2.0, error_if_nonfinite: bool = False,
                    foreach: bool | None = None) -> Tensor:
    """Scales the gradients so that their norm together is at most max_norm, and returns the norm before.

    The arguments are those of get_total_norm() and clip_grads_with_norm_().

    >>> import gradus
    >>> x = gradus.tensor([3.0, 4.0], requires_grad=True)
    >>> (x ** 2 / 2).sum().backward()
    >>> gradus.nn.utils.clip_grad_norm_(x, 1.0), x.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    norm = _gradus._nn._clip_grad_norm_(_list(parameters), float(max_norm), float(norm_type), error_if_nonfinite)
    return _gradus.tensor(norm)


def clip_grad_value_(parameters: _Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Brings each element of the gradients within -clip_value and clip_value. foreach: taken, without effect."""
    _gradus._nn._clip_grad_value_(_list(parameters), float(clip_value))
