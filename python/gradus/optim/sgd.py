"""SGD, under the name of torch.optim.sgd."""

from __future__ import annotations

from .._gradus._optim import SGD as SGD
from .optimizer import Optimizer as Optimizer

__all__ = ["SGD"]
