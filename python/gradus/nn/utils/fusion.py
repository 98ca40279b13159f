"""A convolution or a linear layer with the batch normalisation after it as one layer, for eval."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from ... import _gradus
from .. import Module, Parameter
from ._computed import put_back

_M = TypeVar("_M", bound=Module)


def _fused(layer: _M, bn: Any, transpose: bool) -> _M:
    if layer.training or bn.training or bn.running_mean is None:
        raise _gradus.ValueError("fuse: expected layers in eval, and a normalisation with running statistics")
    out = copy.deepcopy(layer)
    factor = (bn.running_var + bn.eps).rsqrt() * (bn.weight if bn.weight is not None else 1)
    shape = [1] * layer.weight.dim()
    shape[1 if transpose else 0] = -1
    bias = layer.bias if layer.bias is not None else _gradus.zeros_like(bn.running_mean)
    put_back(out, "weight", Parameter((layer.weight * factor.reshape(shape)).detach(), layer.weight.requires_grad))
    shift = (bias - bn.running_mean) * factor + (bn.bias if bn.bias is not None else 0)
    put_back(out, "bias", Parameter(shift.detach()))
    return out


def fuse_conv_bn_eval(conv: _M, bn: Any, transpose: bool = False) -> _M:
    """One convolution that computes bn(conv(x)), in eval."""
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: _M, bn: Any) -> _M:
    """One linear layer that computes bn(linear(x)), in eval."""
    return _fused(linear, bn, False)
