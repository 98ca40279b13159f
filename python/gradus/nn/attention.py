"""Attention and transformers as C++ computes them, with batches that come first or not at all, and any activation."""

from __future__ import annotations

import copy
import copyreg
import weakref
from collections.abc import Callable
from typing import Any, Union

from .. import _gradus
from .._gradus import Tensor, _nn
from .._gradus._nn import Module
from .containers import ModuleList
from .init import xavier_uniform_

_Activation = Union[str, Callable[[Tensor], Tensor], Module]

# A module may keep a function of C++, which is copied as it is and pickled by its name.
for _kind in (type(_nn.functional.relu), type(Tensor.relu)):
    copyreg.pickle(_kind, lambda function: function.__qualname__)


def _is_alone(x: Any) -> bool:
    """Whether it is one sequence (length, width), without a batch."""
    return isinstance(x, Tensor) and x.dim() == 2


def _length_first(x: Any, batch_first: bool, alone: bool) -> Any:
    """A sequence as (length, batch, width), which C++ takes."""
    if not isinstance(x, Tensor):
        return x
    return x.unsqueeze(1) if alone else x.transpose(0, 1) if batch_first and x.dim() == 3 else x


def _as_given(x: Any, batch_first: bool, alone: bool) -> Any:
    """A result of C++ as _length_first() found its argument."""
    return x.squeeze(1) if alone else x.transpose(0, 1) if batch_first else x


def _of_batch(key_padding_mask: Any, alone: bool) -> Any:
    """A mask of keys as (batch, length)."""
    return key_padding_mask.unsqueeze(0) if alone and isinstance(key_padding_mask, Tensor) else key_padding_mask


def _check_causal(module: Module, hint: str, is_causal: bool | None, name: str, mask: Any) -> None:
    """Errors: ValueError for a hint without the mask that it describes."""
    if is_causal and mask is None:
        raise _gradus.ValueError(f"{type(module).__name__}: {hint} needs {name}; give "
                                 "nn.Transformer.generate_square_subsequent_mask(length)")


class MultiheadAttention(_nn.MultiheadAttention):
    """Attention of queries to keys, with heads of their own weights.

    batch_first: sequences are (batch, length, width), else (length, batch, width).
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
                 add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, device, dtype)
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Any:
        """The result for the queries and the weights of the keys, or None for these without need_weights.

        Queries, keys and values may be one sequence (length, width); key_padding_mask then has one dimension.
        attn_mask (targets, sources) and key_padding_mask: what is true is not seen, numbers are added.
        is_causal: says that attn_mask is causal. Errors: ValueError for it without attn_mask, and for other shapes.
        """
        _check_causal(self, "is_causal", is_causal, "attn_mask", attn_mask)
        alone = _is_alone(query)
        query, key, value = (_length_first(x, self.batch_first, alone) for x in (query, key, value))
        out, weights = super().forward(query, key, value, _of_batch(key_padding_mask, alone), need_weights, attn_mask,
                                       average_attn_weights)
        return _as_given(out, self.batch_first, alone), weights.squeeze(0) if alone and weights is not None else weights


def _with_activation(base: Any) -> Any:
    """The layer of C++ with batch_first, whose activation is an attribute: a text, a function, or a part of it."""

    class Layer(base):  # type: ignore[misc]
        def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                     activation: _Activation = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                     norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
            super().__init__(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, device, dtype)
            self.batch_first = batch_first
            if callable(activation):
                self.activation = activation

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "activation" and name in self.__dict__:
                delattr(self, name)
            super().__setattr__(name, value)
            if name == "activation" and callable(value):
                self.__dict__[name] = value
                own: Any = weakref.ref(self)
                self._set_option(name, lambda x: own().activation(x))

        def _options(self) -> dict[str, Any]:
            options: dict[str, Any] = super()._options()
            if "activation" in self.__dict__:  # a copy is given it as an attribute
                options["activation"] = "relu"
            return options

    Layer.__name__ = Layer.__qualname__ = base.__name__
    Layer.__init__.__qualname__ = f"{base.__name__}.__init__"
    return Layer


class TransformerEncoderLayer(_with_activation(_nn.TransformerEncoderLayer)):  # type: ignore[misc]
    """Attention to itself and two linear layers, each with dropout, added to what they are given, and normalised.

    activation: between the linear layers: "relu", "gelu", or a function or a module. norm_first: the norms stand before
    the parts, not behind their sums. batch_first: sequences are (batch, length, width), else (length, batch, width).
    """

    def forward(self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:
        """A tensor like src, which may be one sequence (length, width); src_key_padding_mask then has one dimension.

        is_causal: says that src_mask is causal. Errors: ValueError for it without src_mask, and for other shapes.
        """
        _check_causal(self, "is_causal", is_causal, "src_mask", src_mask)
        alone = _is_alone(src)
        out = super().forward(_length_first(src, self.batch_first, alone), src_mask, _of_batch(src_key_padding_mask, alone))
        return _as_given(out, self.batch_first, alone).contiguous()  # type: ignore[no-any-return]


class TransformerDecoderLayer(_with_activation(_nn.TransformerDecoderLayer)):  # type: ignore[misc]
    """Attention to itself and to a memory, and two linear layers; otherwise as TransformerEncoderLayer."""

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Tensor:
        """A tensor like tgt, which may be one sequence (length, width), as may memory; masks of keys then have one dimension.

        tgt_is_causal, memory_is_causal: say that the mask is causal. Errors: ValueError for one without its mask, and for
        other shapes.
        """
        _check_causal(self, "tgt_is_causal", tgt_is_causal, "tgt_mask", tgt_mask)
        _check_causal(self, "memory_is_causal", memory_is_causal, "memory_mask", memory_mask)
        alone = _is_alone(tgt)
        tgt, memory = (_length_first(x, self.batch_first, alone) for x in (tgt, memory))
        out = super().forward(tgt, memory, tgt_mask, memory_mask, _of_batch(tgt_key_padding_mask, alone),
                              _of_batch(memory_key_padding_mask, alone))
        return _as_given(out, self.batch_first, alone).contiguous()  # type: ignore[no-any-return]


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
        return self._run(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))


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
                         memory_key_padding_mask=memory_key_padding_mask,
                         tgt_is_causal=bool(tgt_is_causal), memory_is_causal=memory_is_causal)


class Transformer(Module):
    """The decoder of targets and of what the encoder makes of sources, each with a LayerNorm behind its layers.

    custom_encoder, custom_decoder: modules in their place. The other options are those of TransformerEncoderLayer.
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: _Activation = "relu",
                 custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

        def stack(kind: Any, layer: Any, num_layers: int) -> Module:
            norm = _nn.LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            return kind(layer(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,  # type: ignore[no-any-return]
                              batch_first, norm_first, bias, device, dtype), num_layers, norm)

        self.encoder: Any = custom_encoder if custom_encoder is not None else \
            stack(TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        self.decoder: Any = custom_decoder if custom_decoder is not None else \
            stack(TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Gives all parameters of two and more dimensions Glorot's initial values."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                xavier_uniform_(parameter)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Any:
        """A tensor like tgt. src and tgt may each be one sequence (length, width); masks of keys then have one dimension.

        Errors: ValueError for sequences of different batches, or of another width than d_model.
        """
        given = f"Transformer: src and tgt have the shapes {tuple(src.shape)} and {tuple(tgt.shape)}"
        if src.dim() != tgt.dim() or src.dim() == 3 and src.size(not self.batch_first) != tgt.size(not self.batch_first):
            raise _gradus.ValueError(f"{given}; expected the same batch in both")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise _gradus.ValueError(f"{given}; expected d_model = {self.d_model} numbers as the last dimension")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask by which a target sees the sources up to its own place: 0 there, else -infinity."""
        return _gradus.full((sz, sz), float("-inf"), device=device, dtype=dtype).triu(1)
