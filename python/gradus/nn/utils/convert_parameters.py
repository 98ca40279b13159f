"""Parameters as one vector, under the names of torch.nn.utils.convert_parameters."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _gradus
from ..._gradus import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return _gradus.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Sets the parameters from one vector."""
    start = 0
    for p in parameters:
        p.data = vec[start:start + p.numel()].view(p.shape).data
        start += p.numel()
