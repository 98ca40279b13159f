"""The text of a module, in PyTorch's form."""

from __future__ import annotations

import re
from typing import Any

# The options that a class of C++ shows, in their order; a class that is not here shows all. `*name`: without its name.
# `name?`: where it is not the default. `name#`: as one number where the sizes are equal.
_SHOWN = [
    (r"Conv.*", "*in_channels *out_channels kernel_size stride padding? dilation? output_padding? groups? bias? padding_mode?"),
    (r"AvgPool1d", "kernel_size stride padding"),
    (r"AvgPool.d", "kernel_size# stride# padding#"),
    (r"(Max|LP)Pool.d", "norm_type kernel_size# stride# padding# dilation# ceil_mode"),
    (r"Adaptive(Avg|Max)Pool.d", "output_size#"),
    (r"Fold|Unfold", "output_size kernel_size# dilation# padding# stride#"),
    (r"(Sync)?(Batch|Instance)Norm.*", "*num_features eps momentum affine track_running_stats"),
    (r"GroupNorm", "*num_groups *num_channels eps affine"),
    (r"(Layer|RMS)Norm", "*normalized_shape eps elementwise_affine bias"),
    (r"LocalResponseNorm|CrossMapLRN2d", "*size alpha beta k"),
    (r"RNN|LSTM|GRU", "*input_size *hidden_size proj_size? num_layers? bias? batch_first? dropout? bidirectional?"),
    (r"(RNN|LSTM|GRU)Cell", "*input_size *hidden_size bias? nonlinearity?"),
    (r"Embedding", "*num_embeddings *embedding_dim padding_idx? max_norm? norm_type? scale_grad_by_freq? sparse?"),
    (r"EmbeddingBag", "*num_embeddings *embedding_dim max_norm? norm_type? scale_grad_by_freq? mode padding_idx?"),
    (r".*Dropout.*", "p inplace"),
    (r"(Log)?Softmax|Softmin", "dim"),
    (r"PReLU", "num_parameters"),
    (r"(Hard|Soft)shrink", "*lambd"),
    (r"(Zero|Reflection|Replication|Circular)Pad.d", "*padding"),
    (r"Upsample", "size#? scale_factor#? mode"),
    (r".*Loss|CosineSimilarity|PairwiseDistance|FractionalMaxPool.d|MultiheadAttention|Transformer.*", ""),
]


def options_text(kind: str, options: dict[str, Any], defaults: dict[str, Any]) -> str:
    """The options of a class of C++: "in_features=3, out_features=4, bias=True"."""
    every = " ".join(name + "?" * (name == "inplace") for name in options)
    shown = next((words for pattern, words in _SHOWN if re.fullmatch(pattern, kind)), every)
    out = []
    for word in shown.split():
        name, marks = word.strip("*?#"), word.replace(word.strip("*?#"), "")
        if name not in options or ("?" in marks and options[name] == defaults[name]):
            continue
        value = options[name]
        if "#" in marks and isinstance(value, tuple) and len(set(value)) == 1:
            value = value[0]
        text = value if "?" in marks and isinstance(value, str) else repr(value)
        out.append(text if "*" in marks else f"{name}={text}")
    return ", ".join(out)


def module_text(kind: str, extra: str, children: list[tuple[str, str]]) -> str:
    """The text of a module: its class, its extra_repr(), and the names and texts of the modules below."""
    lines = extra.split("\n") if extra else []
    if len(lines) == 1 and not children:
        return f"{kind}({extra})"
    for name, text in children:
        lines += f"({name}): {text}".split("\n")
    return f"{kind}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"
