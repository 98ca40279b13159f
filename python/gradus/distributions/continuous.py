"""Distributions of real numbers and vectors, under the names of torch.distributions."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._modes import no_grad
from . import constraints
from ._base import HALF_LOG_2PI, Distribution, broadcast_shapes, lazy_property, tensors, tiny, unit
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


class MultivariateNormal(Distribution):
    """Normal vectors: their covariance, its inverse (precision_matrix), or its lower triangular factor scale_tril."""

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: each for name, each in matrices.items() if each is not None}
        if len(given) != 1:
            raise _gradus.ValueError(f"MultivariateNormal: {len(given)} matrices are given; expected one of "
                                     "covariance_matrix, precision_matrix and scale_tril")
        (name, matrix), = given.items()
        batch, n = broadcast_shapes(loc.shape[:-1], matrix.shape[:-2]), loc.shape[-1:]
        self.loc = loc.expand(batch + n)
        self.__dict__[name] = matrix.expand(batch + n + n)
        super().__init__(batch, n, validate_args)
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else _gradus.linalg_cholesky(
            matrix if name == "covariance_matrix" else _gradus.linalg_inv(matrix))

    def _batched(self) -> tuple[str, ...]:
        return "loc", "covariance_matrix", "precision_matrix", "scale_tril"

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the elements."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
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


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance cov_factor @ cov_factor.mT + diag(cov_diag), where cov_factor has few columns."""

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.real, "cov_diag": constraints.positive}
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        n, rank = loc.shape[-1:], cov_factor.shape[-1:]
        if cov_factor.shape[-2:-1] != n or cov_diag.shape[-1:] != n:
            raise _gradus.ValueError(f"LowRankMultivariateNormal: cov_factor has the shape {tuple(cov_factor.shape)} and cov_diag "
                                     f"{tuple(cov_diag.shape)}; expected (..., {n[0]}, rank) and (..., {n[0]}), as loc has")
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(batch + n), cov_diag.expand(batch + n)
        self.cov_factor = cov_factor.expand(batch + n + rank)
        super().__init__(batch, n, validate_args)

    def _batched(self) -> tuple[str, ...]:
        return "loc", "cov_factor", "cov_diag"

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.cov_factor ** 2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def precision_matrix(self) -> Any:
        return _gradus.linalg_inv(self.covariance_matrix)

    @property
    def scale_tril(self) -> Any:
        return _gradus.linalg_cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        few = _gradus.randn((*shape[:-1], self.cov_factor.size(-1), 1), dtype=self.loc.dtype, device=self.loc.device)
        each = _gradus.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.cov_factor @ few).squeeze(-1) + self.cov_diag.sqrt() * each

    def _small_factor(self) -> Any:
        """The triangular factor of 1 + W' W / D, a matrix of as many rows as the factor W has columns."""
        w = self.cov_factor
        ones = _gradus.eye(w.size(-1), dtype=w.dtype, device=w.device)
        return _gradus.linalg_cholesky(ones + w.mT @ (w / self.cov_diag.unsqueeze(-1)))

    def _half_log_det(self, factor: Any) -> Any:
        return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self.cov_diag.log().sum(-1) / 2

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        difference, factor = value - self.loc, self._small_factor()
        part = self.cov_factor.mT @ (difference / self.cov_diag).unsqueeze(-1)
        part = _gradus.linalg_solve_triangular(factor.expand(part.shape[:-2] + factor.shape[-2:]), part, upper=False)
        squares = (difference ** 2 / self.cov_diag).sum(-1) - (part ** 2).sum([-2, -1])
        return -squares / 2 - self.loc.size(-1) * HALF_LOG_2PI - self._half_log_det(factor)

    def entropy(self) -> Any:
        return self.loc.size(-1) * (0.5 + HALF_LOG_2PI) + self._half_log_det(self._small_factor())
