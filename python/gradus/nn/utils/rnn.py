"""Sequences of different lengths, under the names of torch.nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _gradus
from ..._gradus import Tensor
from ..._gradus._nn import PackedSequence as PackedSequence


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0) -> Tensor:
    """One tensor of sequences of different lengths, filled up by padding_value."""
    return _gradus.pad_sequence(list(sequences), batch_first, padding_value)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each of its length."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


def pack_padded_sequence(input: Tensor, lengths: Tensor | Iterable[int], batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """The steps of padded sequences (longest, batch, ...), for RNN, LSTM and GRU.

    enforce_sorted: the lengths are in decreasing order already.

    >>> import gradus
    >>> from gradus.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
    >>> packed = pack_padded_sequence(gradus.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))
    >>> pad_packed_sequence(packed, batch_first=True)[0].tolist()
    [[1, 2], [3, 0]]
    """
    if not isinstance(lengths, Tensor):
        lengths = _gradus.tensor(list(lengths))
    return _gradus._nn._pack_padded_sequence(input, lengths, batch_first, enforce_sorted)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The padded sequences, and their lengths. total_length: at least so many steps."""
    return _gradus._nn._pad_packed_sequence(sequence, batch_first, padding_value, total_length)


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """The steps of sequences of different lengths, for RNN, LSTM and GRU."""
    return _gradus._nn._pack_sequence(list(sequences), enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences, each of its length."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The order that undoes a permutation."""
    return None if permutation is None else _gradus._nn._invert_permutation(permutation)
