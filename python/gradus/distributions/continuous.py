"""Distributions of real numbers and vectors, under the names of torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._modes import no_grad
from . import constraints
from ._base import HALF_LOG_2PI, Distribution, broadcast_shapes, tensors

_LOCATION = {"loc": constraints.real, "scale": constraints.positive}


def _tiny(x: Any) -> float:
    """The smallest normal number of a tensor's dtype."""
    return 2.0 ** -1022 if x.dtype is _gradus.float64 else 2.0 ** -126


def _unit(shape: Any, like: Any) -> Any:
    """Numbers between 0 and 1, without the ends."""
    eps = 2.0 ** -53 if like.dtype is _gradus.float64 else 2.0 ** -24
    return _gradus.rand(shape, dtype=like.dtype, device=like.device).clamp(eps, 1 - eps)


def _drawn_gamma(a: Any) -> Any:
    """Numbers of the gamma distribution of these shapes, by Marsaglia and Tsang, "A simple method for generating gamma
    variables" (2000)."""
    boost = a < 1
    large = _gradus.where(boost, a + 1, a)
    d = large - 1.0 / 3
    c = 1 / (9 * d).sqrt()
    out, waits = _gradus.ones_like(a), _gradus.ones_like(a, dtype=_gradus.bool)
    while bool(waits.any()):
        x = _gradus.randn_like(a)
        v = (1 + c * x) ** 3
        accepted = waits & (v > 0) & (_unit(a.shape, a).log() < x * x / 2 + d - d * v + d * v.clamp(min=_tiny(a)).log())
        out = _gradus.where(accepted, d * v, out)
        waits = waits & ~accepted
    out = _gradus.where(boost, out * (_unit(a.shape, a).log() / a).exp(), out)
    return out.clamp(min=_tiny(a))


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
        u = _unit(shape, self.loc) * 2 - 1
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
        return -(-_unit(shape, self.loc).log()).log()

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
        known = self.scale ** 2 * self.df / (self.df - 2).clamp(min=_tiny(self.df))
        large = _gradus.where(self.df > 2, known, _gradus.full_like(self.df, math.inf))
        return _gradus.where(self.df > 1, large, _gradus.full_like(self.df, math.nan))

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        x = _gradus.randn(shape, dtype=self.df.dtype, device=self.df.device)
        z = 2 * _drawn_gamma((self.df / 2).expand(shape))
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


class Exponential(Distribution):
    """The distribution of density rate * exp(-rate * x)."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self.rate, = tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return 1 / self.rate

    @property
    def mode(self) -> Any:
        return _gradus.zeros_like(self.rate)

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


class Gamma(Distribution):
    """The gamma distribution of shape `concentration` and rate `rate`. Samples have no gradient."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative  # type: ignore[assignment]

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = tensors(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate ** 2

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        return _drawn_gamma(self.concentration.expand(self._extended_shape(sample_shape)).clone()) / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        a = self.concentration
        return _gradus.xlogy(a, self.rate) + _gradus.xlogy(a - 1, value) - self.rate * value - a.lgamma()

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """The distribution of the sum of df squares of normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self.df, = tensors(df)
        super().__init__(self.df / 2, 0.5, validate_args)


class Dirichlet(Distribution):
    """Vectors of shares that sum to 1. Samples have no gradient."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.simplex  # type: ignore[assignment]

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total ** 2 * (total + 1))

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = _drawn_gamma(self.concentration.expand(self._extended_shape(sample_shape)).clone())
        return drawn / drawn.sum(-1, True)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        a = self.concentration
        return _gradus.xlogy(a - 1, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Any:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)


class Beta(Distribution):
    """Shares, of which Dirichlet has two. Samples have no gradient."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval  # type: ignore[assignment]

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = tensors(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    def _both(self) -> Dirichlet:
        return Dirichlet(_gradus.stack([self.concentration1, self.concentration0], -1), False)

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total ** 2 * (total + 1))

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._both().sample(sample_shape)[..., 0]

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return self._both().log_prob(_gradus.stack([value, 1 - value], -1))

    def entropy(self) -> Any:
        return self._both().entropy()


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


class HalfNormal(Distribution):
    """The absolute value of a normal number of mean 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self.scale, = tensors(scale)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        return _gradus.zeros_like(self.scale)

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
