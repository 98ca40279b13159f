"""The loss of sequences without an alignment, whose lengths may be lists of numbers."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._gradus import Tensor, _nn


def _lengths(given: Any) -> Tensor:
    return given if isinstance(given, Tensor) else _gradus.tensor(given, dtype=_gradus.int64)


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
             reduction: Any = "mean", zero_infinity: bool = False) -> Tensor:
    """-log(the probability of all ways to write targets in T steps, with repetitions and blanks).

    input_lengths, target_lengths: tensors or lists of numbers.
    """
    return _nn.functional.ctc_loss(log_probs, targets, _lengths(input_lengths), _lengths(target_lengths),
                                   blank, reduction, zero_infinity)


class CTCLoss(_nn.CTCLoss):
    __doc__ = _nn.CTCLoss.__doc__

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return super().forward(log_probs, targets, _lengths(input_lengths), _lengths(target_lengths))
