"""Helpers for distributions, under the names of torch.distributions.utils."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._forms import finfo  # type: ignore[attr-defined]
from ._base import lazy_property as lazy_property, tensors


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape, of the dtype of those that are tensors."""
    return tuple(tensors(*values))


def clamp_probs(probs: Any) -> Any:
    """Probabilities moved away from 0 and 1, so that their logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """The probabilities that logits mean: of one event by sigmoid, of choices along the last dimension by softmax."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The logits of probabilities: log(p / (1 - p)) of one event, log(p) of choices."""
    clamped = clamp_probs(probs)
    return clamped.log() - _gradus.log1p(-clamped) if is_binary else clamped.log()
