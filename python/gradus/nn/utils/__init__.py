"""Gradients clipped, parameters as one vector or computed from others, under the names of torch.nn.utils."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from ... import _gradus
from ..._gradus import Tensor
from . import fusion as fusion, parametrizations as parametrizations, parametrize as parametrize, prune as prune, rnn as rnn
from ._hooked_norm import remove_spectral_norm as remove_spectral_norm, remove_weight_norm as remove_weight_norm
from ._hooked_norm import spectral_norm as spectral_norm, weight_norm as weight_norm
from .fusion import fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_linear_bn_eval as fuse_linear_bn_eval

_Tensors = Union[Tensor, Iterable[Tensor]]


def _list(parameters: _Tensors) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(parameters: _Tensors, max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False) -> Tensor:
    """Scales the gradients so that their norm together is at most max_norm, and returns the norm before.

    >>> import gradus
    >>> x = gradus.tensor([3.0, 4.0], requires_grad=True)
    >>> (x ** 2 / 2).sum().backward()
    >>> gradus.nn.utils.clip_grad_norm_(x, 1.0), x.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    norm = _gradus._nn._clip_grad_norm_(_list(parameters), max_norm, norm_type, error_if_nonfinite)
    return _gradus.tensor(norm)


def clip_grad_value_(parameters: _Tensors, clip_value: float) -> None:
    """Brings each element of the gradients within -clip_value and clip_value."""
    _gradus._nn._clip_grad_value_(_list(parameters), clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return _gradus.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Sets the parameters from one vector."""
    start = 0
    for p in parameters:
        p.data = vec[start:start + p.numel()].view(p.shape).data
        start += p.numel()
