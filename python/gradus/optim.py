"""Optimizers, under the names of torch.optim."""

from ._gradus.optim import *  # noqa: F403
