"""LBFGS, under the name of torch.optim.lbfgs."""

from __future__ import annotations

from .._gradus._optim import LBFGS as LBFGS
from .optimizer import Optimizer as Optimizer

__all__ = ["LBFGS"]
