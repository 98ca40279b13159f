"""AdamW, under the name of torch.optim.adamw."""

from __future__ import annotations

from .._gradus._optim import AdamW as AdamW
from .optimizer import Optimizer as Optimizer

__all__ = ["AdamW"]
