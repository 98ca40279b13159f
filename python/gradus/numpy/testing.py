"""Comparisons for tests, under the names of numpy.testing."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._numpy import alike
from .._numpy_functions import Functions


def _compare(what: str, actual: Any, desired: Any, message: str, close: Any) -> None:
    arrays = Functions("cpu")
    x, y = alike([arrays._of(actual), arrays._of(desired)])
    y = y.to(x.device)
    if x.ndim and y.ndim and x.shape != y.shape:
        raise AssertionError(f"{what}: the shapes are {tuple(x.shape)} and {tuple(y.shape)}, expected equal ones. {message}".rstrip())
    x, y = _gradus.broadcast_tensors([x, y])
    wrong = ~close(x, y)
    if bool(wrong.any()):
        place = tuple(wrong.nonzero()[0].tolist())
        raise AssertionError(f"{what}: {int(wrong.sum())} of {wrong.numel()} elements differ; at {place} the actual one is "
                             f"{x[wrong][0].item()}, the desired one {y[wrong][0].item()}. {message}".rstrip())


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, equal_nan: bool = True,
                    err_msg: str = "", verbose: bool = True) -> None:
    """Errors: AssertionError unless |actual - desired| <= atol + rtol |desired| everywhere."""
    _compare("assert_allclose", actual, desired, err_msg,
             lambda x, y: _gradus.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


def assert_array_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Errors: AssertionError unless all elements are equal; NaN equals NaN."""
    _compare("assert_array_equal", actual, desired, err_msg, lambda x, y: (x == y) | ((x != x) & (y != y)))


def assert_almost_equal(actual: Any, desired: Any, decimal: int = 7, err_msg: str = "", verbose: bool = True) -> None:
    """Errors: AssertionError unless |actual - desired| < 1.5 * 10 ** -decimal everywhere."""
    _compare("assert_almost_equal", actual, desired, err_msg, lambda x, y: _gradus.isclose(
        x.double(), y.double(), rtol=0, atol=1.5 * 10.0 ** -decimal, equal_nan=True))


assert_equal, assert_array_almost_equal = assert_array_equal, assert_almost_equal
