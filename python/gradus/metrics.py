"""Figures that are gathered over many batches, under the names of torchmetrics."""

from ._gradus._metrics import *  # noqa: F403
