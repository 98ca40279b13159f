"""Initial values of parameters, under the names of torch.nn.init."""

import math

from .. import _gradus
from .._gradus._nn.init import *  # noqa: F403
from .._modes import no_grad


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Numbers of a normal distribution, drawn again until they lie in [a, b].

    By the inverse of the distribution function of evenly drawn probabilities.
    """
    def below(x):
        return (1 + math.erf((x - mean) / (std * math.sqrt(2)))) / 2

    with no_grad():
        tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def _calculate_fan_in_and_fan_out(tensor):
    """The numbers of inputs and outputs of an element of a layer with this weight."""
    if tensor.dim() < 2:
        raise _gradus.ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 "
                                 f"dimensions; this one has {tensor.dim()}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field
