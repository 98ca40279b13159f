"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from . import constraints
from ._base import Distribution, tensors
from .continuous import Cauchy, Normal, _waiting


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

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return 2 * Normal(0.0, self.scale).cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return Normal(0.0, self.scale).icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return Normal(0.0, self.scale).entropy() - math.log(2)


class HalfCauchy(_FromZero):
    """The absolute value of a number of Cauchy's distribution around 0, which has no mean."""

    arg_constraints = {"scale": constraints.positive}

    def __init__(self, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.scale, = tensors(scale)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return _gradus.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Any:
        return self.mean

    def rsample(self, sample_shape: Any = ()) -> Any:
        return Cauchy(0.0, self.scale).rsample(sample_shape).abs()

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return Cauchy(0.0, self.scale).log_prob(value) + math.log(2)

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return 2 * Cauchy(0.0, self.scale).cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        return Cauchy(0.0, self.scale).icdf((value + 1) / 2)

    def entropy(self) -> Any:
        return Cauchy(0.0, self.scale).entropy() - math.log(2)


class Weibull(Distribution):
    """The distribution whose share above x is exp(-(x / scale) ** concentration)."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = tensors(scale, concentration)
        super().__init__(self.scale.shape, (), validate_args)

    def _moment(self, n: int) -> Any:
        return self.scale ** n * (1 + n / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        k = self.concentration
        return self.scale * ((k - 1) / k).clamp(min=0) ** (1 / k)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self._moment(1) ** 2

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.scale * _waiting(self.scale, self._extended_shape(sample_shape)) ** (1 / self.concentration)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        k, ratio = self.concentration, value / self.scale
        return (k / self.scale).log() + _gradus.xlogy(k - 1, ratio) - ratio ** k

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return -_gradus.expm1(-(value / self.scale) ** self.concentration)

    def icdf(self, value: Any) -> Any:
        return self.scale * (-_gradus.log1p(-value)) ** (1 / self.concentration)

    def entropy(self) -> Any:
        k = self.concentration
        return 0.57721566490153286 * (1 - 1 / k) + (self.scale / k).log() + 1


class Pareto(Distribution):
    """The distribution whose share above x is (scale / x) ** alpha, from scale on."""

    arg_constraints = {"scale": constraints.positive, "alpha": constraints.positive}
    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = tensors(scale, alpha)
        super().__init__(self.scale.shape, (), validate_args)

    @property
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)
        return self.scale ** 2 * a / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.scale * (_waiting(self.scale, self._extended_shape(sample_shape)) / self.alpha).exp()

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return 1 - (self.scale / value) ** self.alpha

    def icdf(self, value: Any) -> Any:
        return self.scale * (1 - value) ** (-1 / self.alpha)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha
