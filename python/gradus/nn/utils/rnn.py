"""Sequences of different lengths, under the names of torch.nn.utils.rnn."""

from ... import _gradus


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    """One tensor of sequences of different lengths, filled up by padding_value."""
    return _gradus.pad_sequence(list(sequences), batch_first, padding_value)
