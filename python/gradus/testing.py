"""Comparisons that say what differs, under the names of torch.testing."""

from __future__ import annotations

from typing import Any

from . import _gradus

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


def assert_close(actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None,
                 equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, msg: str | None = None) -> None:
    """Nothing, where the values are within atol + rtol * |expected|; tolerances are by dtype where they are not given.

    Lists, tuples and dictionaries are compared element by element. Errors: AssertionError, or msg.
    """
    options: dict[str, Any] = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device, check_dtype=check_dtype,
                   msg=msg)
    if isinstance(expected, dict):
        _demand(actual.keys() == expected.keys(), msg, "The keys are not equal!")
        for key in expected:
            assert_close(actual[key], expected[key], **options)
        return
    if isinstance(expected, (list, tuple)):
        _demand(len(actual) == len(expected), msg, "The length of the sequences mismatch")
        for a, b in zip(actual, expected):
            assert_close(a, b, **options)
        return
    a, b = _gradus.as_tensor(actual), _gradus.as_tensor(expected)
    _demand(a.shape == b.shape, msg, f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.")
    _demand(not check_dtype or a.dtype is b.dtype, msg, f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.")
    _demand(not check_device or a.device == b.device, msg,
            f"The values for attribute 'device' do not match: {a.device} != {b.device}.")
    known = max(_TOLERANCES.get(str(x.dtype).rpartition(".")[2], (0.0, 0.0)) for x in (a, b))
    rtol, atol = known[0] if rtol is None else rtol, known[1] if atol is None else atol
    kind: Any = _gradus.promote_types(a.dtype, b.dtype)
    a, b = a.to(kind), b.to(a.device).to(kind)
    if not _gradus.allclose(a, b, rtol, atol, equal_nan):
        wrong = ~_gradus.isclose(a, b, rtol, atol, equal_nan)
        away = (a - b).abs() if a.dtype is not _gradus.bool else wrong
        _demand(False, msg, f"Tensor-likes are not close!\n\nMismatched elements: {int(wrong.sum())} / {a.numel()}\n"
                            f"Greatest absolute difference: {away.max().item()} (up to {atol} allowed)")


def _demand(holds: bool, msg: str | None, text: str) -> None:
    if not holds:
        raise AssertionError(msg or text)
