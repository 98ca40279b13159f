"""Initial values of parameters, in place and outside of the graph, under the names of torch.nn.init.

generator: where random numbers come from; by default the generator of the tensor's device.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._gradus import Tensor
from .._gradus._nn import init as _init
from .._gradus._nn.init import constant_ as constant_, eye_ as eye_, ones_ as ones_, zeros_ as zeros_
from .._modes import no_grad


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which to enlarge the values of a layer before this function. param: the slope of leaky_relu, 0.01.

    Errors: ValueError for a function that has none.
    """
    return 0.75 if nonlinearity == "selu" else _init.calculate_gain(nonlinearity, param)


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Evenly drawn numbers of [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Numbers of a normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
                  generator: Any = None) -> Tensor:
    """Numbers of a normal distribution, drawn again until they lie in [a, b].

    By the inverse of the distribution function of evenly drawn probabilities.
    """
    def below(x: float) -> float:
        return (1 + math.erf((x - mean) / (std * math.sqrt(2)))) / 2

    tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
    return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The numbers of inputs and outputs of an element of a layer with this weight."""
    if tensor.dim() < 2:
        raise _gradus.ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                                 f"dimensions; this one has {tensor.dim()}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _xavier_std(tensor: Tensor, gain: float) -> float:
    total = sum(_calculate_fan_in_and_fan_out(tensor))
    return gain * math.sqrt(2 / total) if total else 0.0


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise _gradus.ValueError(f"kaiming: mode is {mode!r}; expected 'fan_in' or 'fan_out'")
    fan = _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def _uniform_of_(tensor: Tensor, std: float, generator: Any) -> Tensor:
    """Evenly drawn numbers of this deviation."""
    return uniform_(tensor, -math.sqrt(3) * std, math.sqrt(3) * std, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Evenly drawn numbers by which values and gradients keep their size: Glorot and Bengio (2010).

    Errors: ValueError for fewer than 2 dimensions.
    """
    return _uniform_of_(tensor, _xavier_std(tensor, gain), generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """As xavier_uniform_, of a normal distribution."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Any = None) -> Tensor:
    """Evenly drawn numbers by which values keep their size through a nonlinearity: He and others (2015).

    a: the slope of leaky_relu. mode: "fan_out": gradients keep theirs.
    Errors: ValueError for fewer than 2 dimensions, another mode, and a nonlinearity without a gain.
    """
    return _uniform_of_(tensor, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: Any = None) -> Tensor:
    """As kaiming_uniform_, of a normal distribution."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Orthogonal rows or columns, of the norm gain; further dimensions are columns, too.

    Errors: ValueError for fewer than 2 dimensions.
    """
    if tensor.dim() < 2:
        raise _gradus.ValueError(f"orthogonal_: the tensor has shape {tuple(tensor.shape)}; expected 2 or more dimensions")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.size(0), tensor[0].numel()
    drawn = _gradus.randn(max(rows, columns), min(rows, columns), dtype=_gradus.float64, device=tensor.device,
                          generator=generator)
    q, r = _gradus.linalg_qr(drawn.cpu())
    q = q * r.diagonal().sign() * gain
    return tensor.copy_((q if rows >= columns else q.t()).reshape(tensor.shape))


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Numbers of a normal distribution, of which this share of each column is 0.

    Errors: ValueError for other than 2 dimensions, and for a share that is not from 0 to 1.
    """
    if tensor.dim() != 2 or not 0 <= sparsity <= 1:
        raise _gradus.ValueError(f"sparse_: the tensor has shape {tuple(tensor.shape)} and sparsity is {sparsity}; "
                                 "expected 2 dimensions and a number from 0 to 1")
    order = _gradus.rand(*tensor.shape, dtype=_gradus.float64, device=tensor.device, generator=generator).argsort(0)
    return tensor.normal_(0, std, generator=generator).masked_fill_(order < math.ceil(sparsity * tensor.size(0)), 0)


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution in so many groups that returns its input, for as many channels as there are.

    Errors: ValueError for other than 3 to 5 dimensions, and where groups do not divide the first of them.
    """
    if groups < 1 or tensor.dim() < 1 or tensor.size(0) % groups:
        raise _gradus.ValueError(f"dirac_: the tensor has shape {tuple(tensor.shape)}; expected a first dimension that "
                                 f"groups = {groups} divides")
    for part in tensor.chunk(groups):
        _init.dirac_(part)
    return tensor
