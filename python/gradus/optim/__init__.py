"""Optimizers, under the names of torch.optim."""

from .._gradus._optim import *  # noqa: F403
from . import lr_scheduler as lr_scheduler
