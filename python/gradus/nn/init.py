"""Initial values of parameters, under the names of torch.nn.init."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._gradus._nn.init import *  # noqa: F403
from .._modes import no_grad


def trunc_normal_(tensor: Any, mean: Any = 0.0, std: Any = 1.0, a: Any = -2.0, b: Any = 2.0, generator:
                  Any=None) -> Any:
    """Numbers of a normal distribution, drawn again until they lie in [a, b].

    By the inverse of the distribution function of evenly drawn probabilities.
    """
    def below(x: Any) -> Any:
        return (1 + math.erf((x - mean) / (std * math.sqrt(2)))) / 2

    with no_grad():
        tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def _calculate_fan_in_and_fan_out(tensor: Any) -> Any:
    """The numbers of inputs and outputs of an element of a layer with this weight."""
    if tensor.dim() < 2:
        raise _gradus.ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                                 f"dimensions; this one has {tensor.dim()}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field
