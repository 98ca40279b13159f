"""Adam, under the name of torch.optim.adam."""

from __future__ import annotations

from .._gradus._optim import Adam as Adam
from .optimizer import Optimizer as Optimizer

__all__ = ["Adam"]
