"""Attention and transformers, with batch_first, which C++ leaves to its callers."""

from __future__ import annotations

import copy
from typing import Any

from .. import _gradus
from .._gradus import Tensor, _nn
from .._gradus._nn import Module
from .containers import ModuleList


def _turned(value: Any) -> Any:
    """(batch, length, ...) as (length, batch, ...), and back."""
    return value.transpose(0, 1) if value.dim() == 3 else value


_CAUSAL = ("is_causal", "src_is_causal", "tgt_is_causal", "memory_is_causal")


def _batch_first(base: Any, *sequences: str) -> Any:
    """The layer of C++ with batch_first, which turns the tensors of these names and the result."""

    class Layer(base):  # type: ignore[misc]
        __doc__ = base.__doc__

        def __init__(self, *args: Any, batch_first: bool = False, **options: Any) -> None:
            super().__init__(*args, **options)
            self.batch_first = batch_first
            if base is _nn.MultiheadAttention:
                self.head_dim = self.embed_dim // self.num_heads

        def forward(self, *args: Any, **keywords: Any) -> Any:
            # The masks say all; these name what they are.
            causal = [keywords.pop(name, False) for name in _CAUSAL]
            if causal[0] and keywords.get("attn_mask") is None and base is _nn.MultiheadAttention:
                raise _gradus.ValueError("MultiheadAttention: is_causal needs attn_mask; give "
                                         "nn.Transformer.generate_square_subsequent_mask(length)")
            if not self.batch_first:
                return super().forward(*args, **keywords)
            args = tuple(_turned(arg) if i < len(sequences) else arg for i, arg in enumerate(args))
            keywords = {name: _turned(value) if name in sequences else value
                        for name, value in keywords.items()}
            out = super().forward(*args, **keywords)
            return (_turned(out[0]), *out[1:]) if isinstance(out, tuple) else _turned(out)

    Layer.__name__ = Layer.__qualname__ = base.__name__
    return Layer


MultiheadAttention = _batch_first(_nn.MultiheadAttention, "query", "key", "value")
TransformerEncoderLayer = _batch_first(_nn.TransformerEncoderLayer, "src")
TransformerDecoderLayer = _batch_first(_nn.TransformerDecoderLayer, "tgt", "memory")
Transformer = _batch_first(_nn.Transformer, "src", "tgt")


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """A mask by which a target sees the sources up to its own place: 0 there, else -infinity."""
    return _gradus.full((sz, sz), float("-inf"), device=device, dtype=dtype).triu(1)


setattr(Transformer, "generate_square_subsequent_mask", staticmethod(generate_square_subsequent_mask))


class _Stack(Module):
    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Any, *args: Any, **keywords: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **keywords)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """A stack of copies of an encoder layer. enable_nested_tensor, mask_check: taken, without effect."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Tensor, mask: Tensor | None = None,
                src_key_padding_mask: Tensor | None = None, is_causal: bool | None = None) -> Any:
        return self._run(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)


class TransformerDecoder(_Stack):
    """A stack of copies of a decoder layer."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, tgt_key_padding_mask: Tensor | None = None,
                memory_key_padding_mask: Tensor | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Any:
        return self._run(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                         tgt_key_padding_mask=tgt_key_padding_mask,
                         memory_key_padding_mask=memory_key_padding_mask)
