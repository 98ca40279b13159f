"""Comparisons that say what differs, under the names of torch.testing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, Union

from . import _gradus

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
_Message = Union[str, Callable[[str], str], None]


def assert_close(actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None,
                 equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, msg: _Message = None) -> None:
    """Nothing, where the values are within atol + rtol * |expected|; tolerances are by dtype where they are not given.

    Lists, tuples and dictionaries are compared element by element. msg: what the error says; or a function, which is given
    the text that it would have, and returns the one that it has.
    Errors: AssertionError where values differ; TypeError where they cannot be compared, as a tensor and a list; ValueError
    where one of rtol and atol is given without the other.
    """
    if (rtol is None) != (atol is None):
        raise _gradus.ValueError(f"assert_close: rtol is {rtol}, and atol is {atol}; expected both or none")
    try:
        _compare(actual, expected, "", rtol, atol, equal_nan, check_device, check_dtype)
    except AssertionError as error:
        text = str(error)
        raise AssertionError(msg(text) if callable(msg) else msg or text) from None


def _compare(actual: Any, expected: Any, path: str, rtol: float | None, atol: float | None, equal_nan: bool,
             check_device: bool, check_dtype: bool) -> None:
    """path: where in the values that assert_close was given these are."""
    where = f"\n\nThe failure occurred for item {path}" if path else ""

    def demand(holds: bool, text: str) -> None:
        if not holds:
            raise AssertionError(text + where)

    options: Any = (rtol, atol, equal_nan, check_device, check_dtype)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        demand(actual.keys() == expected.keys(), f"The keys of the mappings do not match: {list(actual)} != {list(expected)}")
        for key in expected:
            _compare(actual[key], expected[key], f"{path}[{key!r}]", *options)
        return
    if _is_list(actual) and _is_list(expected):
        demand(len(actual) == len(expected), f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for i, pair in enumerate(zip(actual, expected)):
            _compare(*pair, f"{path}[{i}]", *options)
        return
    if actual is None or expected is None:
        demand(actual is expected, f"None mismatch: {actual} is not {expected}")
        return
    if not _comparable(actual, expected):
        raise _gradus.TypeError(f"assert_close: actual is of type {type(actual).__name__}, and expected of "
                                f"{type(expected).__name__}{f', at {path}' if path else ''}; expected two tensors, arrays or "
                                "numbers, or lists or dictionaries of them")
    a, b = (_as_tensor(each) for each in (actual, expected))
    demand(a.shape == b.shape, f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.")
    demand(not check_dtype or a.dtype is b.dtype, f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.")
    demand(not check_device or a.device == b.device, f"The values for attribute 'device' do not match: {a.device} != {b.device}.")
    known = max(_TOLERANCES.get(str(x.dtype).rpartition(".")[2], (0.0, 0.0)) for x in (a, b))
    rtol, atol = known[0] if rtol is None else rtol, known[1] if atol is None else atol
    kind: Any = _gradus.promote_types(a.dtype, b.dtype)
    a, b = a.to(kind), b.to(a.device).to(kind)
    if not _gradus.allclose(a, b, rtol, atol, equal_nan):
        demand(False, _differences(a, b, rtol, atol, equal_nan))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _comparable(actual: Any, expected: Any) -> bool:
    """Whether both are tensors, arrays, numbers or bools."""
    pair = (actual, expected)
    if isinstance(actual, bool) or isinstance(expected, bool):
        return type(actual) is type(expected)
    return (all(isinstance(each, (Number, _gradus.Tensor)) for each in pair)
            and isinstance(actual, Number) == isinstance(expected, Number)
            or all(hasattr(each, "__array_interface__") for each in pair))


def _as_tensor(value: Any) -> _gradus.Tensor:
    """A number with all its digits."""
    if isinstance(value, (float, complex)):
        return _gradus.tensor(value, dtype=_gradus.complex128 if isinstance(value, complex) else _gradus.float64)
    return _gradus.as_tensor(value).detach()


def _differences(a: _gradus.Tensor, b: _gradus.Tensor, rtol: float, atol: float, equal_nan: bool) -> str:
    """How far tensors of one dtype and shape are apart."""
    word = "close" if rtol or atol else "equal"
    wrong = ~_gradus.isclose(a, b, rtol, atol, equal_nan)
    if not a.is_floating_point() and not a.is_complex():
        a, b = a.long(), b.long()
    away = _gradus.where(wrong, (a - b).abs(), 0)
    relative = _gradus.where(wrong, away / b.abs(), 0.0)
    if a.dim() == 0:
        return (f"Scalars are not {word}!\n\nExpected {b.item()} but got {a.item()}.\n"
                f"Absolute difference: {away.item()}{_allowed(atol, word)}\n"
                f"Relative difference: {relative.item()}{_allowed(rtol, word)}")
    count = int(wrong.sum())
    return (f"Tensor-likes are not {word}!\n\nMismatched elements: {count} / {a.numel()} ({count / a.numel():.1%})\n"
            f"Greatest absolute difference: {_greatest(away)}{_allowed(atol, word)}\n"
            f"Greatest relative difference: {_greatest(relative)}{_allowed(rtol, word)}")


def _allowed(tolerance: float, word: str) -> str:
    return f" (up to {tolerance} allowed)" if word == "close" else ""


def _greatest(values: _gradus.Tensor) -> str:
    flat = values.flatten()
    place = int(flat.argmax())
    index = tuple(place // math.prod(values.shape[i + 1:]) % size for i, size in enumerate(values.shape))
    return f"{flat[place].item()} at index {index}"


__all__ = ["assert_close"]
