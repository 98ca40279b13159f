"""How a tensor is printed: as PyTorch prints it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from . import _gradus

_options: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def set_printoptions(precision: int | None = None, threshold: float | None = None,
                     edgeitems: int | None = None, linewidth: int | None = None,
                     profile: str | None = None, sci_mode: bool | None = None) -> None:
    """Sets how tensors are printed, with PyTorch's options and profiles (default, short, full).

    >>> import gradus
    >>> gradus.set_printoptions(precision=2)
    >>> gradus.tensor([1 / 3])
    tensor([0.33])
    >>> gradus.set_printoptions(profile="default")
    """
    if profile is not None:
        profiles: dict[str, dict[str, Any]] = {
            "default": dict(precision=4, threshold=1000, edgeitems=3, linewidth=80),
            "short": dict(precision=2, threshold=1000, edgeitems=2, linewidth=80),
            "full": dict(precision=4, threshold=math.inf, edgeitems=3, linewidth=80),
        }
        _options.update(profiles[profile])
    given = dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth)
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


class _Formatter:
    """One width for all numbers of a tensor, that of the widest which is neither 0, infinite nor NaN."""

    def __init__(self, numbers: Sequence[Any], dtype: _gradus.dtype) -> None:
        self.real = dtype.is_floating_point
        self.integers = True
        self.scientific = False
        self.width = 1
        if not self.real:
            self.width = max([len(str(n)) for n in numbers] + [1])
            return
        finite = [n for n in numbers if math.isfinite(n) and n != 0]
        if not finite:
            return
        largest, smallest = max(map(abs, finite)), min(map(abs, finite))
        self.integers = all(n == math.ceil(n) for n in finite)
        ratio = largest / smallest
        if self.integers:
            self.scientific = ratio > 1000.0 or largest > 1e8
        else:
            self.scientific = ratio > 1000.0 or largest > 1e8 or smallest < 1e-4
        if _options["sci_mode"] is not None:
            self.scientific = _options["sci_mode"]
        self.width = max(len(self.text(n)) for n in finite)

    def text(self, number: Any) -> str:
        if not self.real:
            return str(number)
        precision = _options["precision"]
        if self.scientific:
            return f"{number:.{precision}e}"
        if self.integers:
            return f"{number:.0f}" + ("." if math.isfinite(number) else "")
        return f"{number:.{precision}f}"

    def __call__(self, number: Any) -> str:
        return self.text(number).rjust(self.width)


def _shown(tensor: _gradus.Tensor, edge: int) -> Any:
    """The elements that are printed: the edges where the tensor has many."""
    if tensor.dim() == 0:
        return tensor
    if tensor.shape[0] > 2 * edge:
        parts = [tensor[i] for i in range(edge)]
        parts += [tensor[i] for i in range(tensor.shape[0] - edge, tensor.shape[0])]
    else:
        parts = [tensor[i] for i in range(tensor.shape[0])]
    return [_shown(part, edge) for part in parts]


def _numbers(tensor: _gradus.Tensor, summarize: bool) -> list[Any]:
    def flatten(part: Any) -> Iterator[Any]:
        if isinstance(part, list):
            for each in part:
                yield from flatten(each)
        else:
            yield part.item()

    if summarize:
        return list(flatten(_shown(tensor, _options["edgeitems"])))
    return list(tensor.reshape(-1).tolist())


def _vector(tensor: _gradus.Tensor, indent: int, summarize: bool, texts: _Formatter | _ComplexFormatter) -> str:
    edge = _options["edgeitems"]
    per_line = max(1, int((_options["linewidth"] - indent) / (max(1, texts.width) + 2)))
    if summarize and tensor.shape[0] > 2 * edge:
        words = [texts(n) for n in tensor[:edge].tolist()] + [" ..."]
        words += [texts(n) for n in tensor[-edge:].tolist()]
    else:
        words = [texts(n) for n in tensor.tolist()]
    lines = [", ".join(words[i:i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _text(tensor: _gradus.Tensor, indent: int, summarize: bool, texts: _Formatter | _ComplexFormatter) -> str:
    if tensor.dim() == 0:
        return texts(tensor.item())
    if tensor.dim() == 1:
        return _vector(tensor, indent, summarize, texts)
    edge = _options["edgeitems"]
    size = tensor.shape[0]
    if summarize and size > 2 * edge:
        rows = [_text(tensor[i], indent + 1, summarize, texts) for i in range(edge)] + ["..."]
        rows += [_text(tensor[i], indent + 1, summarize, texts) for i in range(size - edge, size)]
    else:
        rows = [_text(tensor[i], indent + 1, summarize, texts) for i in range(size)]
    between = "," + "\n" * (tensor.dim() - 1) + " " * (indent + 1)
    return "[" + between.join(rows) + "]"


class _ComplexFormatter:
    def __init__(self, numbers: Sequence[Any], dtype: _gradus.dtype) -> None:
        real = _gradus.float32
        self.first = _Formatter([n.real for n in numbers], real)
        self.second = _Formatter([n.imag for n in numbers], real)
        self.width = self.first.width + self.second.width + 2

    def __call__(self, number: Any) -> str:
        imag = self.second(number.imag).strip()
        sign = "" if imag.startswith("-") else "+"
        return (self.first(number.real) + sign + imag + "j")


def tensor_repr(self: _gradus.Tensor) -> str:
    """The tensor as text: elements, and what is not the default of dtype, device and gradient."""
    prefix = "tensor("
    values = self.detach()
    suffixes = []
    if not self.is_cuda and not self.is_meta:
        pass
    else:
        suffixes.append(f"device='{self.device}'")
    real = _gradus.get_default_dtype()
    default = (real, _gradus.int64, _gradus.bool, _gradus.complex128 if real is _gradus.float64 else _gradus.complex64)
    if self.is_meta:
        suffixes.append(f"size={tuple(self.shape)}")
        if self.dtype != _gradus.get_default_dtype():
            suffixes.append(f"dtype={self.dtype}")
        text = "..."
    elif self.numel() == 0:
        if self.dim() != 1:
            suffixes.append(f"size={tuple(self.shape)}")
        if self.dtype != _gradus.get_default_dtype():
            suffixes.append(f"dtype={self.dtype}")
        text = "[]"
    else:
        if self.dtype not in default:
            suffixes.append(f"dtype={self.dtype}")
        values = values.cpu()
        if self.dtype in (_gradus.float16, _gradus.bfloat16):
            values = values.float()
        summarize = self.numel() > _options["threshold"]
        kind = _ComplexFormatter if self.dtype.is_complex else _Formatter
        texts = kind(_numbers(values, summarize), values.dtype)
        text = _text(values, len(prefix), summarize, texts)
    if self.requires_grad:
        node = self.grad_fn
        suffixes.append("requires_grad=True" if node is None else f"grad_fn=<{type(node).__name__}>")
    out = prefix + text
    line = len(out) - out.rfind("\n") - 1
    for i, suffix in enumerate(suffixes):
        if line + len(suffix) + 2 > _options["linewidth"]:
            out += ",\n" + " " * len(prefix) + suffix
            line = len(prefix) + len(suffix)
        else:
            out += ", " + suffix
            line += len(suffix) + 2
    return out + ")"
