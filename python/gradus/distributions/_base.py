"""What every distribution has: shapes, samples, and errors for values that are outside of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _gradus
from .._forms import Size, broadcast_shapes, broadcast_tensors  # type: ignore[attr-defined]
from .._modes import enable_grad, no_grad


class lazy_property:
    """A property that is computed when it is first asked for, with a gradient, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value


class Distribution:
    """The base of all distributions: of a batch of variables (batch_shape), each of the shape event_shape."""

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, Any] = {}
    _validate_args = True

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, allowed in self.arg_constraints.items():
                value = self.__dict__.get(name)
                if isinstance(value, _gradus.Tensor):
                    self._check(name, value, allowed)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether arguments are checked where validate_args is not given."""
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of variables."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one variable."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """What values it has; None where that is not said."""
        return None

    @property
    def mean(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no mode")

    @property
    def variance(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without a gradient, sample_shape of them for each variable."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values with gradients for the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n: int) -> Any:
        """n values."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density or probability at a value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of values up to this one."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf")

    def icdf(self, value: Any) -> Any:
        """The value up to which the probability is this one."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf")

    def entropy(self) -> Any:
        """The mean of -log_prob."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy")

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along the first dimension."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same variables for a larger batch."""
        out = type(self).__new__(type(self))
        out.__dict__.update(self.__dict__)
        for name in self._batched():
            value = self.__dict__.get(name)
            if isinstance(value, _gradus.Tensor):
                own = value.shape[len(self._batch_shape):]
                out.__dict__[name] = value.expand(Size((*batch_shape, *own)))
            elif isinstance(value, Distribution):
                own = value.batch_shape[len(self._batch_shape):]
                out.__dict__[name] = value.expand(Size((*batch_shape, *own)))
        out._batch_shape = Size(batch_shape)
        return out

    def _batched(self) -> tuple[str, ...]:
        """The attributes that begin with the dimensions of the batch."""
        return tuple(self.__dict__)

    def _check(self, what: str, value: Any, allowed: Any) -> None:
        """Errors: ValueError that names the first value that a constraint does not allow."""
        inside = allowed.check(value)
        if bool(inside.all()):
            return
        wrong = value.expand(inside.shape + value.shape[value.dim() - allowed.event_dim:])[~inside][0].tolist()
        raise _gradus.ValueError(f"{type(self).__name__}: {what} has {wrong}, expected {allowed.words}; give such values, "
                                 "or validate_args=False to compute with others")

    def _check_sample(self, value: Any) -> None:
        if not self._validate_args:
            return
        if not isinstance(value, _gradus.Tensor):
            raise _gradus.ValueError(f"{type(self).__name__}: log_prob: the value argument is {value!r}, of type "
                                     f"{type(value).__name__}; expected a Tensor; use gradus.tensor")
        if self.support is not None:
            self._check("log_prob: value", value, self.support)

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}"
                 for name in names if (value := self.__dict__[name]) is not None]
        return f"{type(self).__name__}({', '.join(shown)})"


def tensors(*values: Any) -> list[Any]:
    """Numbers and tensors as tensors of one shape, of the dtype of those that are tensors."""
    first = next((value for value in values if isinstance(value, _gradus.Tensor)), None)
    made = [value if isinstance(value, _gradus.Tensor) else
            _gradus.tensor(float(value)) if first is None else
            _gradus.tensor(float(value), dtype=first.dtype, device=first.device) for value in values]
    return list(broadcast_tensors(*made))


class Independent(Distribution):
    """Another distribution whose last dimensions of the batch are a part of the variable."""

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int,
                 validate_args: bool | None = None) -> None:
        shape, n = base_distribution.batch_shape, reinterpreted_batch_ndims
        if n > len(shape):
            raise _gradus.ValueError(f"Independent: reinterpreted_batch_ndims is {n}; expected at most {len(shape)}, "
                                     "the dimensions of the batch")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        super().__init__(shape[:len(shape) - n], shape[len(shape) - n:] + base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> Any:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def _sum(self, x: Any) -> Any:
        return x.sum(list(range(-self.reinterpreted_batch_ndims, 0))) if self.reinterpreted_batch_ndims else x

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self._sum(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


HALF_LOG_2PI = math.log(2 * math.pi) / 2
__all__ = ["Distribution", "HALF_LOG_2PI", "Independent", "broadcast_shapes", "lazy_property", "tensors"]


def tiny(x: Any) -> float:
    """The smallest normal number of a tensor's dtype."""
    return 2.0 ** -1022 if x.dtype is _gradus.float64 else 2.0 ** -126


def unit(shape: Any, like: Any) -> Any:
    """Numbers between 0 and 1, without the ends."""
    eps = 2.0 ** -53 if like.dtype is _gradus.float64 else 2.0 ** -24
    return _gradus.rand(shape, dtype=like.dtype, device=like.device).clamp(eps, 1 - eps)
