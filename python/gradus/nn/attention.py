"""Attention and transformers, with batch_first, which C++ leaves to its callers."""

from __future__ import annotations

import copy
from typing import Any

from .._gradus import _nn
from .._gradus._nn import Module
from .containers import ModuleList


def _turned(value: Any) -> Any:
    """(batch, length, ...) as (length, batch, ...), and back."""
    return value.transpose(0, 1) if value.dim() == 3 else value


def _run(forward: Any, sequences: tuple[str, ...], args: Any, keywords: Any) -> Any:
    """forward() with the tensors of these names, and its result, turned."""
    args = tuple(_turned(arg) if i < len(sequences) else arg for i, arg in enumerate(args))
    keywords = {name: _turned(value) if name in sequences else value
                for name, value in keywords.items()}
    out = forward(*args, **keywords)
    return (_turned(out[0]), *out[1:]) if isinstance(out, tuple) else _turned(out)


class MultiheadAttention(_nn.MultiheadAttention):
    """The layer of C++; with batch_first, query, key and value are (batch, length, features)."""

    def __init__(self, *args: Any, batch_first: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.batch_first = batch_first

    def forward(self, *args: Any, **keywords: Any) -> Any:
        if not self.batch_first:
            return super().forward(*args, **keywords)
        return _run(super().forward, ("query", "key", "value"), args, keywords)


class TransformerEncoderLayer(_nn.TransformerEncoderLayer):
    """The layer of C++; with batch_first, src are (batch, length, features)."""

    def __init__(self, *args: Any, batch_first: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.batch_first = batch_first

    def forward(self, *args: Any, **keywords: Any) -> Any:
        if not self.batch_first:
            return super().forward(*args, **keywords)
        return _run(super().forward, ("src",), args, keywords)


class TransformerDecoderLayer(_nn.TransformerDecoderLayer):
    """The layer of C++; with batch_first, tgt and memory are (batch, length, features)."""

    def __init__(self, *args: Any, batch_first: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.batch_first = batch_first

    def forward(self, *args: Any, **keywords: Any) -> Any:
        if not self.batch_first:
            return super().forward(*args, **keywords)
        return _run(super().forward, ("tgt", "memory"), args, keywords)


class Transformer(_nn.Transformer):
    """The layer of C++; with batch_first, src and tgt are (batch, length, features)."""

    def __init__(self, *args: Any, batch_first: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.batch_first = batch_first

    def forward(self, *args: Any, **keywords: Any) -> Any:
        if not self.batch_first:
            return super().forward(*args, **keywords)
        return _run(super().forward, ("src", "tgt"), args, keywords)


class _Stack(Module):
    def __init__(self, layer: Any, num_layers: Any, norm: Any = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Any, *args: Any, **keywords: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **keywords)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """A stack of copies of an encoder layer."""

    def __init__(self, encoder_layer: Any, num_layers: Any, norm: Any = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        return self._run(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)


class TransformerDecoder(_Stack):
    """A stack of copies of a decoder layer."""

    def __init__(self, decoder_layer: Any, num_layers: Any, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
                tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None) -> Any:
        return self._run(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                         tgt_key_padding_mask=tgt_key_padding_mask,
                         memory_key_padding_mask=memory_key_padding_mask)
