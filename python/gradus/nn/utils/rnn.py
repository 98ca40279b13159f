"""Sequences of different lengths, under the names of torch.nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _gradus
from ..._gradus import Tensor


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0) -> Tensor:
    """One tensor of sequences of different lengths, filled up by padding_value."""
    return _gradus.pad_sequence(list(sequences), batch_first, padding_value)
