"""The gamma distribution and its relatives, under the names of torch.distributions."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from ..autograd.function import Function, once_differentiable
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


def _slope_of_gamma(a: Any, x: Any) -> Any:
    """dx/da of a number x of the gamma distribution of shape a: -(dF/da) / p, where F is the share below x and p the
    density, as in Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients" (2018). dF/da is a difference of
    fourth order in float64, of the smaller one of the shares below and above.
    """
    out_type, a, x = x.dtype, a.double(), x.double()
    h = 1e-3 * _gradus.minimum(a, a.sqrt())
    above = x > a

    def share(shape: Any) -> Any:
        return _gradus.where(above, -_gradus.igammac(shape, x), _gradus.igamma(shape, x))

    dshare = (8 * (share(a + h) - share(a - h)) - (share(a + 2 * h) - share(a - 2 * h))) / (12 * h)
    slope = -dshare * (x + a.lgamma() - (a - 1) * x.log()).exp()
    near_0 = x / a * ((a + 1).digamma() - x.log())  # there F is x^a / gamma(a + 1)
    return _gradus.where(x < 1e-8, near_0, slope).to(out_type)


class _DrawnGamma(Function):
    """drawn_gamma() with its gradient."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        drawn = drawn_gamma(a)
        ctx.save_for_backward(a, drawn)
        return drawn

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * _slope_of_gamma(*ctx.saved_tensors)


def gamma_rsample(a: Any, shape: Any) -> Any:
    """Numbers of the gamma distribution of shapes a, expanded to a shape, with a gradient."""
    return _DrawnGamma.apply(a.expand(shape).clone())


class Gamma(Distribution):
    """The gamma distribution of shape `concentration` and rate `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative  # type: ignore[assignment]
    has_rsample = True

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        return gamma_rsample(self.concentration, self._extended_shape(sample_shape)) / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        a = self.concentration
        return _gradus.xlogy(a, self.rate) + _gradus.xlogy(a - 1, value) - self.rate * value - a.lgamma()

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return _gradus.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()


class Chi2(Gamma):
    """The distribution of the sum of df squares of normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        self.df, = tensors(df)
        super().__init__(self.df / 2, 0.5, validate_args)


class InverseGamma(Distribution):
    """The distribution of 1 / x, where x is one of Gamma."""

    arg_constraints = Gamma.arg_constraints
    support = constraints.positive  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = tensors(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        a = self.concentration.clamp(min=1)
        return self.rate / (a - 1)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration.clamp(min=2)
        return self.rate ** 2 / ((a - 1) ** 2 * (a - 2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.rate / gamma_rsample(self.concentration, self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        a = self.concentration
        return _gradus.xlogy(a, self.rate) - a.lgamma() - (a + 1) * value.log() - self.rate / value

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return _gradus.igammac(self.concentration, self.rate / value)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Dirichlet(Distribution):
    """Vectors of shares that sum to 1."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.simplex  # type: ignore[assignment]
    has_rsample = True

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = gamma_rsample(self.concentration, self._extended_shape(sample_shape))
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
    """Shares, of which Dirichlet has two."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval  # type: ignore[assignment]
    has_rsample = True

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

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._both().rsample(sample_shape)[..., 0]

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return self._both().log_prob(_gradus.stack([value, 1 - value], -1))

    def entropy(self) -> Any:
        return self._both().entropy()
