"""Bases of losses, under the names of torch.nn.modules.loss."""

from __future__ import annotations

from typing import Any

from ..._gradus._nn import Module


class _Loss(Module):
    """A loss of one's own derives from it. reduction: none, mean or sum."""

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """The same with a buffer `weight`."""

    def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
