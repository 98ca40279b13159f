"""The gamma distribution and its relatives, under the names of torch.distributions."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._modes import no_grad
from . import constraints
from ._base import Distribution, tensors, tiny, unit


def drawn_gamma(a: Any) -> Any:
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
        accepted = waits & (v > 0) & (unit(a.shape, a).log() < x * x / 2 + d - d * v + d * v.clamp(min=tiny(a)).log())
        out = _gradus.where(accepted, d * v, out)
        waits = waits & ~accepted
    out = _gradus.where(boost, out * (unit(a.shape, a).log() / a).exp(), out)
    return out.clamp(min=tiny(a))


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
        return drawn_gamma(self.concentration.expand(self._extended_shape(sample_shape)).clone()) / self.rate

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
        drawn = drawn_gamma(self.concentration.expand(self._extended_shape(sample_shape)).clone())
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
