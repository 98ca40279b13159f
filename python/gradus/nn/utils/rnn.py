"""Sequences of different lengths, under the names of torch.nn.utils.rnn."""

from __future__ import annotations

from typing import Any

from ... import _gradus


def pad_sequence(sequences: Any, batch_first: Any = False, padding_value: Any = 0.0) -> Any:
    """One tensor of sequences of different lengths, filled up by padding_value."""
    return _gradus.pad_sequence(list(sequences), batch_first, padding_value)
