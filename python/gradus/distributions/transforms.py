"""Functions of distributions, and distributions of their results, under the names of torch.distributions.transforms."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._gradus._nn import functional as _functional
from . import constraints
from ._base import Distribution, tensors
from .continuous import Gumbel, Normal, Uniform
from .discrete import Bernoulli, Forwards, OfChoices


class Transform:
    """An invertible function: t(x), t.inv(y) and log_abs_det_jacobian(x, y). cache_size is taken, without effect."""

    bijective, event_dim, sign = True, 0, 1

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute value of dy/dx."""
        raise NotImplementedError

    def __call__(self, x: Any) -> Any:
        return self._call(x)

    @property
    def inv(self) -> Transform:
        """The inverse function."""
        return _Inverse(self)

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, of: Transform) -> None:
        super().__init__()
        self._of, self.event_dim = of, of.event_dim

    @property
    def inv(self) -> Any:
        return self._of

    def _call(self, x: Any) -> Any:
        return self._of._inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._of._call(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._of.log_abs_det_jacobian(y, x)


class ExpTransform(Transform):
    """exp(x)."""

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class TanhTransform(Transform):
    """tanh(x)."""

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return _gradus.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2 * (math.log(2) - x - _functional.softplus(-2 * x))


class SigmoidTransform(Transform):
    """sigmoid(x)."""

    def _call(self, x: Any) -> Any:
        return x.sigmoid()

    def _inverse(self, y: Any) -> Any:
        return y.log() - _gradus.log1p(-y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -_functional.softplus(-x) - _functional.softplus(x)


class AffineTransform(Transform):
    """loc + scale * x. event_dim: the last dimensions that are one variable."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        scale = self.scale if isinstance(self.scale, _gradus.Tensor) else _gradus.full_like(x, self.scale)
        out = scale.abs().log().expand(x.shape)
        return out.sum(list(range(-self.event_dim, 0))) if self.event_dim else out


class ComposeTransform(Transform):
    """Functions one after the other."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = parts
        self.event_dim = max((part.event_dim for part in parts), default=0)

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total: Any = 0
        for part in self.parts:
            y = part(x)
            total = total + _summed(part.log_abs_det_jacobian(x, y), self.event_dim - part.event_dim)
            x = y
        return total


def _summed(x: Any, dims: int) -> Any:
    return x.sum(list(range(-dims, 0))) if dims else x


class TransformedDistribution(Distribution):
    """The distribution of f(x), where x is one of base_distribution."""

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        self.base_dist: Any = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        own = max([len(base_distribution.event_shape), *(each.event_dim for each in self.transforms)])
        super().__init__(shape[:len(shape) - own], shape[len(shape) - own:], validate_args)

    @property
    def has_rsample(self) -> Any:  # type: ignore[override]
        return self.base_dist.has_rsample

    def _through(self, x: Any) -> Any:
        for each in self.transforms:
            x = each(x)
        return x

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._through(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        dims, out, y = len(self._event_shape), 0, value
        for each in reversed(self.transforms):
            x = each._inverse(y)
            out = out - _summed(each.log_abs_det_jacobian(x, y), dims - each.event_dim)
            y = x
        return out + _summed(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def cdf(self, value: Any) -> Any:
        for each in reversed(self.transforms):
            value = each._inverse(value)
        return self.base_dist.cdf(value)


class LogNormal(TransformedDistribution):
    """The exponential of a normal number."""

    arg_constraints = Normal.arg_constraints
    support = constraints.positive  # type: ignore[assignment]

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale ** 2 / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale ** 2).exp()

    @property
    def variance(self) -> Any:
        return _gradus.expm1(self.scale ** 2) * (2 * self.loc + self.scale ** 2).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class RelaxedBernoulli(Forwards, TransformedDistribution):
    """A number between 0 and 1 in the place of Bernoulli's, at a temperature."""

    arg_constraints = Bernoulli.arg_constraints
    support = constraints.unit_interval  # type: ignore[assignment]

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature, = tensors(temperature)
        self._of = Bernoulli(probs, logits, validate_args)
        logits = self.logits
        logistic = TransformedDistribution(Uniform(_gradus.zeros_like(logits), 1.0, False), SigmoidTransform().inv)
        super().__init__(logistic, [AffineTransform(logits / self.temperature, 1 / self.temperature), SigmoidTransform()])


class RelaxedOneHotCategorical(OfChoices):
    """Shares that sum to 1 in the place of OneHotCategorical's vectors, at a temperature."""

    support = constraints.simplex  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.temperature, = tensors(temperature)
        super().__init__(probs, logits, validate_args)

    def _batched(self) -> tuple[str, ...]:
        return ("_of",)

    def rsample(self, sample_shape: Any = ()) -> Any:
        logits = self.logits.expand(self._extended_shape(sample_shape))
        return (Gumbel(logits, 1.0, False).rsample() / self.temperature).softmax(-1)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        k, t = self._event_shape[0], self.temperature
        score = self.logits - t * value.log()
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        return score + math.lgamma(k) + (k - 1) * t.log() - value.log().sum(-1)
