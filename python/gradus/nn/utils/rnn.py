"""Sequences of different lengths, under the names of torch.nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ... import _gradus
from ..._gradus import Tensor
from ..._gradus._nn import PackedSequence as PackedSequence


def _to(self: PackedSequence, *args: Any, **kwargs: Any) -> PackedSequence:
    """As Tensor.to() for the elements, with the places on their device."""
    data = self.data.to(*args, **kwargs)
    if data is self.data:
        return self
    places = (each if each is None else each.to(data.device) for each in (self.sorted_indices, self.unsorted_indices))
    return PackedSequence(data, self.batch_sizes, *places)


def _converted(dtype: Any) -> Callable[[PackedSequence], PackedSequence]:
    return lambda self: _to(self, dtype)


setattr(PackedSequence, "to", _to)
for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    _dtype = getattr(_gradus, {"char": "int8", "byte": "uint8"}.get(_name, _name))
    setattr(PackedSequence, _name, _converted(_dtype))


def pad_sequence(sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """One tensor of sequences of different lengths, filled up by padding_value.

    padding_side: "right": behind each sequence; "left": before it. Errors: ValueError for another side.

    >>> import gradus
    >>> x = [gradus.tensor([1, 2]), gradus.tensor([3])]
    >>> gradus.nn.utils.rnn.pad_sequence(x, batch_first=True, padding_side="left").tolist()
    [[1, 2], [0, 3]]
    """
    if padding_side not in ("left", "right"):
        raise _gradus.ValueError(f"pad_sequence: padding_side is {padding_side!r}; expected 'left' or 'right'")
    if padding_side == "right":
        return _gradus.pad_sequence(list(sequences), batch_first, padding_value)
    padded = _gradus.pad_sequence([each.flip(0) for each in sequences], batch_first, padding_value)
    return padded.flip(1 if batch_first else 0)


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
