"""Distributions of real numbers and vectors, under the names of torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from . import constraints
from ._base import HALF_LOG_2PI, Distribution, broadcast_shapes, tensors, tiny, unit
from .gamma import gamma_rsample

_LOCATION = {"loc": constraints.real, "scale": constraints.positive}


class _Located(Distribution):
    """A distribution that `scale` widens and `loc` moves."""

    arg_constraints = _LOCATION
    support = constraints.real  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = tensors(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    def _drawn(self, shape: Any) -> Any:
        raise NotImplementedError

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + self.scale * self._drawn(self._extended_shape(sample_shape))

    def _standard(self, value: Any) -> Any:
        self._check_sample(value)
        return (value - self.loc) / self.scale


class Normal(_Located):
    """The normal distribution of mean loc and deviation scale.

    >>> import gradus
    >>> from gradus.distributions import Normal
    >>> Normal(0.0, 1.0).log_prob(gradus.tensor(0.0))
    tensor(-0.9189)
    """

    @property
    def variance(self) -> Any:
        return self.scale ** 2

    @property
    def stddev(self) -> Any:
        return self.scale

    def _drawn(self, shape: Any) -> Any:
        return _gradus.randn(shape, dtype=self.loc.dtype, device=self.loc.device)

    def log_prob(self, value: Any) -> Any:
        return -self._standard(value) ** 2 / 2 - self.scale.log() - HALF_LOG_2PI

    def cdf(self, value: Any) -> Any:
        return (1 + _gradus.erf(self._standard(value) / math.sqrt(2))) / 2

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * _gradus.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + HALF_LOG_2PI + self.scale.log()


class Laplace(_Located):
    """The distribution of density exp(-|x - loc| / scale) / (2 scale)."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale ** 2

    def _drawn(self, shape: Any) -> Any:
        u = unit(shape, self.loc) * 2 - 1
        return -u.sign() * _gradus.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        return -self._standard(value).abs() - (2 * self.scale).log()

    def cdf(self, value: Any) -> Any:
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * _gradus.expm1(-z.abs())

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * _gradus.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(_Located):
    """The distribution of a ratio of two normal numbers, which has no mean."""

    @property
    def mean(self) -> Any:
        return _gradus.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Any:
        return _gradus.full_like(self.loc, math.inf)

    def _drawn(self, shape: Any) -> Any:
        return _gradus.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()

    def log_prob(self, value: Any) -> Any:
        return -math.log(math.pi) - self.scale.log() - _gradus.log1p(self._standard(value) ** 2)

    def cdf(self, value: Any) -> Any:
        return _gradus.atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * _gradus.tan(math.pi * (value - 0.5))

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_Located):
    """The distribution of the largest of many numbers."""

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * 0.57721566490153286

    @property
    def variance(self) -> Any:
        return (math.pi * self.scale) ** 2 / 6

    def _drawn(self, shape: Any) -> Any:
        return -(-unit(shape, self.loc).log()).log()

    def log_prob(self, value: Any) -> Any:
        y = -self._standard(value)
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Any) -> Any:
        return (-(-self._standard(value)).exp()).exp()

    def entropy(self) -> Any:
        return self.scale.log() + 1 + 0.57721566490153286


class StudentT(Distribution):
    """Student's distribution with df degrees of freedom."""

    arg_constraints = {"df": constraints.positive, **_LOCATION}
    support = constraints.real  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = tensors(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return _gradus.where(self.df > 1, self.loc, _gradus.full_like(self.loc, math.nan))

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        known = self.scale ** 2 * self.df / (self.df - 2).clamp(min=tiny(self.df))
        large = _gradus.where(self.df > 2, known, _gradus.full_like(self.df, math.inf))
        return _gradus.where(self.df > 1, large, _gradus.full_like(self.df, math.nan))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x = _gradus.randn(shape, dtype=self.df.dtype, device=self.df.device)
        z = 2 * gamma_rsample(self.df / 2, shape)
        return self.loc + self.scale * x * (self.df / z).sqrt()

    def log_prob(self, value: Any) -> Any:
        y = (value - self.loc) / self.scale
        return ((self.df + 1) / 2).lgamma() - (self.df / 2).lgamma() - self.scale.log() - \
            (self.df * math.pi).log() / 2 - (self.df + 1) / 2 * _gradus.log1p(y ** 2 / self.df)


class Uniform(Distribution):
    """Numbers from low to high, all alike."""

    arg_constraints = {"low": constraints.real, "high": constraints.real}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = tensors(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise _gradus.ValueError(f"Uniform: low is {self.low} and high {self.high}; expected low below high")

    @property
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = _gradus.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        inside = (value >= self.low) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Any) -> Any:
        return self.low + value * (self.high - self.low)

    def entropy(self) -> Any:
        return (self.high - self.low).log()


class _FromZero(Distribution):
    """A distribution of numbers from 0 on, whose density is highest at 0."""

    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True

    @property
    def mode(self) -> Any:
        return _gradus.zeros_like(self.mean)


class Exponential(_FromZero):
    """The distribution of density rate * exp(-rate * x)."""

    arg_constraints = {"rate": constraints.positive}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self.rate, = tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        return self.rate ** -2

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return _gradus.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        return -_gradus.log1p(-value) / self.rate

    def entropy(self) -> Any:
        return 1 - self.rate.log()


class HalfNormal(_FromZero):
    """The absolute value of a normal number of mean 0."""

    arg_constraints = {"scale": constraints.positive}

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self.scale, = tensors(scale)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale ** 2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return Normal(0.0, self.scale).rsample(sample_shape).abs()

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return Normal(0.0, self.scale).log_prob(value) + math.log(2)

    def entropy(self) -> Any:
        return Normal(0.0, self.scale).entropy() - math.log(2)


class MultivariateNormal(Distribution):
    """Normal vectors: their covariance, its inverse (precision_matrix), or its lower triangular factor scale_tril."""

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:
        given = [each for each in (covariance_matrix, precision_matrix, scale_tril) if each is not None]
        if len(given) != 1:
            raise _gradus.ValueError(f"MultivariateNormal: {len(given)} matrices are given; expected one of "
                                     "covariance_matrix, precision_matrix and scale_tril")
        if precision_matrix is not None:
            covariance_matrix = _gradus.linalg_inv(precision_matrix)
        factor = scale_tril if scale_tril is not None else _gradus.linalg_cholesky(covariance_matrix)
        self._batch_shape = broadcast_shapes(loc.shape[:-1], factor.shape[:-2])
        n = loc.size(-1)
        self.loc = loc.expand(self._batch_shape + (n,))
        self._unbroadcasted_scale_tril = factor
        super().__init__(self._batch_shape, loc.shape[-1:], validate_args)

    def _batched(self) -> tuple[str, ...]:
        return ("loc",)

    @property
    def scale_tril(self) -> Any:
        n = self.loc.size(-1)
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + (n, n))

    @property
    def covariance_matrix(self) -> Any:
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self) -> Any:
        return _gradus.linalg_inv(self.covariance_matrix)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.scale_tril ** 2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = _gradus.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        difference = (value - self.loc).unsqueeze(-1)
        factor = self._unbroadcasted_scale_tril.expand(difference.shape[:-2] + self._unbroadcasted_scale_tril.shape[-2:])
        z = _gradus.linalg_solve_triangular(factor, difference, upper=False).squeeze(-1)
        return -(z ** 2).sum(-1) / 2 - self.loc.size(-1) * HALF_LOG_2PI - self._half_log_det()

    def entropy(self) -> Any:
        out = self.loc.size(-1) * (0.5 + HALF_LOG_2PI) + self._half_log_det()
        return out.expand(self._batch_shape)
