"""Distributions of real numbers, under the names of torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._modes import no_grad
from . import constraints
from ._base import HALF_LOG_2PI, Distribution, tensors, tiny, unit
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
        self._check_sample(value)
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


def _waiting(like: Any, shape: Any) -> Any:
    """Numbers of the exponential distribution with mean 1."""
    return _gradus.empty(shape, dtype=like.dtype, device=like.device).exponential_()


class VonMises(Distribution):
    """Angles around loc, of density exp(concentration * cos(x - loc)) but for a factor."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real  # type: ignore[assignment]

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = tensors(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 1 - _gradus.i1e(self.concentration) / _gradus.i0e(self.concentration)

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        """By Best and Fisher, "Efficient simulation of the von Mises distribution" (1979)."""
        k = self.concentration.double().expand(self._extended_shape(sample_shape))
        tau = 1 + (1 + 4 * k ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        r = _gradus.where(k < 1e-5, 1 / k + k, (1 + rho ** 2) / (2 * rho))
        out, waits = _gradus.zeros_like(k), _gradus.ones_like(k, dtype=_gradus.bool)
        while bool(waits.any()):
            z = (math.pi * unit(k.shape, k)).cos()
            f = (1 + r * z) / (r + z)
            c, u = k * (r - f), unit(k.shape, k)
            accepted = waits & ((c * (2 - c) > u) | ((c / u).log() + 1 - c >= 0))
            angle = (unit(k.shape, k) - 0.5).sign() * f.clamp(-1, 1).acos()
            out = _gradus.where(accepted, angle, out)
            waits = waits & ~accepted
        return ((out + math.pi + self.loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        k = self.concentration
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - _gradus.i0e(k).log()
