"""Functions of layers, under the names of torch.nn.functional."""

from __future__ import annotations

import warnings
from typing import Any

from .. import _forms, _gradus
from .ctc import ctc_loss as _ctc_loss

__all__: list[str] = []


def _take(name: str, function: Any) -> None:
    globals()[name] = function
    __all__.append(name)


# Functions that are rows of the tables are the same under both names.
for _name in dir(_gradus):
    if not _name.startswith("_") and not isinstance(getattr(_gradus, _name), type) and \
            callable(getattr(_gradus, _name)):
        _take(_name, getattr(_forms, _name, None) or getattr(_gradus, _name))
# Functions with options.
for _name in dir(_gradus._nn.functional):
    if not _name.startswith("_"):
        _take(_name, getattr(_gradus._nn.functional, _name))


_take("logsigmoid", _gradus.log_sigmoid)
_take("ctc_loss", _ctc_loss)


# Functions whose arguments come in another order than those of the rows.
def batch_norm(input: _gradus.Tensor, running_mean: _gradus.Tensor | None,
               running_var: _gradus.Tensor | None, weight: _gradus.Tensor | None = None,
               bias: _gradus.Tensor | None = None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> _gradus.Tensor:
    """Each channel less its mean, over its deviation, times weight, + bias."""
    return _gradus.batch_norm(input, weight, bias, running_mean, running_var, training, momentum,
                              eps, True)


def interpolate(input: _gradus.Tensor, size: Any = None, scale_factor: Any = None, *options: Any,
                **keywords: Any) -> _gradus.Tensor:
    """The input at another size. One size or factor is that of every dimension.

    size, scale_factor: one of them. mode: nearest, nearest-exact, linear, bilinear, bicubic,
    trilinear or area. align_corners: whether the corners stay where they are.
    """
    def of_all(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return value if len(value) != 1 else list(value) * (input.dim() - 2)
        return value if value is None else [value] * (input.dim() - 2)

    return _gradus._nn.functional.interpolate(input, of_all(size), of_all(scale_factor), *options,
                                              **keywords)


def upsample(input: _gradus.Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> _gradus.Tensor:
    """interpolate() under its old name."""
    return interpolate(input, size, scale_factor, mode=mode, align_corners=align_corners)


def upsample_nearest(input: _gradus.Tensor, size: Any = None, scale_factor: Any = None) -> _gradus.Tensor:
    """interpolate() with mode="nearest"."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: _gradus.Tensor, size: Any = None, scale_factor: Any = None) -> _gradus.Tensor:
    """interpolate() with mode="bilinear"; the corners stay where they are."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def scaled_dot_product_attention(query: _gradus.Tensor, key: _gradus.Tensor, value: _gradus.Tensor,
                                 attn_mask: _gradus.Tensor | None = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, *, scale: float | None = None,
                                 enable_gqa: bool = False) -> _gradus.Tensor:
    """The values of keys, weighted by how well the keys match the query.

    attn_mask: bool, True where a query sees a key, or numbers that are added to the scores.
    enable_gqa: several heads of the query share a head of key and value.
    """
    return _gradus.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _implicit_dim(name: str, input: _gradus.Tensor, stacklevel: int) -> int:
    dim = 0 if input.dim() in (0, 1, 3) else 1
    warnings.warn(f"{name}: dim is left out, which is deprecated; write dim={dim}", UserWarning, stacklevel=stacklevel)
    return dim


def softmax(input: _gradus.Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: _gradus.dtype | None = None) -> _gradus.Tensor:
    """e^x / sum of e^x along dim.

    dim: where it is left out, 0 for tensors of 0, 1 and 3 dimensions, else 1, with a UserWarning. dtype: the input is
    converted to it first.
    """
    return _gradus.softmax(input, _implicit_dim("softmax", input, _stacklevel) if dim is None else dim, dtype)


def log_softmax(input: _gradus.Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: _gradus.dtype | None = None) -> _gradus.Tensor:
    """log(softmax(x)) along dim.

    dim: where it is left out, 0 for tensors of 0, 1 and 3 dimensions, else 1, with a UserWarning. dtype: the input is
    converted to it first.
    """
    return _gradus.log_softmax(input, _implicit_dim("log_softmax", input, _stacklevel) if dim is None else dim, dtype)


def softmin(input: _gradus.Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: _gradus.dtype | None = None) -> _gradus.Tensor:
    """softmax(-x) along dim.

    dim: where it is left out, 0 for tensors of 0, 1 and 3 dimensions, else 1, with a UserWarning. dtype: the input is
    converted to it first.
    """
    return _gradus._nn.functional.softmin(input, _implicit_dim("softmin", input, _stacklevel) if dim is None else dim, dtype)


__all__ += ["batch_norm", "interpolate", "scaled_dot_product_attention", "upsample", "upsample_bilinear", "upsample_nearest"]
