"""Functions of distributions, and distributions of their results, under the names of torch.distributions.transforms."""

from __future__ import annotations

import math
from typing import Any

from .. import _gradus
from .._gradus._nn import functional as _functional
from . import constraints
from .._forms import Size  # type: ignore[attr-defined]
from ._base import Distribution, tensors, tiny
from .continuous import Gumbel, Normal, Uniform
from .discrete import Bernoulli, Forwards, OfChoices


class Transform:
    """An invertible function: t(x), t.inv(y) and log_abs_det_jacobian(x, y). cache_size is taken, without effect."""

    bijective, event_dim = True, 0
    sign: Any = 1  # -1 where it falls

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute value of dy/dx."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Size:
        """The shape of t(x), by that of x."""
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        """The shape of x, by that of t(x)."""
        return Size(shape)

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
        self._of, self.event_dim, self.sign = of, of.event_dim, of.sign
        self.forward_shape, self.inverse_shape = of.inverse_shape, of.forward_shape  # type: ignore[method-assign]

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


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    def _call(self, x: Any) -> Any:
        return _functional.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-_gradus.expm1(-y)).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -_functional.softplus(-x)


class PowerTransform(Transform):
    """x ** exponent, of numbers above 0."""

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent, = tensors(exponent)
        self.sign = self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x ** self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SoftmaxTransform(Transform):
    """softmax(x) of vectors, whose inverse is log(y); no function of one value, and so without a density."""

    bijective, event_dim = False, 1

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """Shares that sum to 1, one more than numbers: each takes the part sigmoid(x) of what those before it have left."""

    event_dim = 1

    def forward_shape(self, shape: Any) -> Size:
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Size:
        return Size((*shape[:-1], shape[-1] - 1))

    def _even(self, x: Any) -> Any:
        """The logarithms of how many shares follow each."""
        return _gradus.arange(x.size(-1), 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Any) -> Any:
        taken = (x - self._even(x)).sigmoid()
        one = _gradus.ones_like(x[..., :1])
        return _gradus.cat([taken, one], -1) * _gradus.cat([one, (1 - taken).cumprod(-1)], -1)

    def _inverse(self, y: Any) -> Any:
        shares = y[..., :-1]
        left = (1 - shares.cumsum(-1)).clamp(min=tiny(y))
        return shares.log() - left.log() + self._even(shares)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._even(x)
        return (y[..., :-1].log() - x - _functional.softplus(-x)).sum(-1)


class IndependentTransform(Transform):
    """Another function, of vectors: the last dimensions are one variable."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.event_dim = base_transform.event_dim + reinterpreted_batch_ndims
        self.bijective, self.sign = base_transform.bijective, base_transform.sign
        self.forward_shape, self.inverse_shape = (  # type: ignore[method-assign]
            base_transform.forward_shape, base_transform.inverse_shape)

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform._inverse(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return _summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class AffineTransform(Transform):
    """loc + scale * x. event_dim: the last dimensions that are one variable."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        self.sign = scale.sign() if isinstance(scale, _gradus.Tensor) else (scale > 0) - (scale < 0)

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
        self.bijective = all(part.bijective for part in parts)
        self.sign = math.prod(part.sign for part in parts)

    def forward_shape(self, shape: Any) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        total: Any = 0 if self.parts else _gradus.zeros_like(x)
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
        for each in self.transforms:
            shape = each.forward_shape(shape)
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
        self._check_sample(value)
        dims, out, y = len(self._event_shape), 0, value
        for each in reversed(self.transforms):
            x = each._inverse(y)
            out = out - _summed(each.log_abs_det_jacobian(x, y), dims - each.event_dim)
            y = x
        return out + _summed(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _turned(self, share: Any) -> Any:
        """The share below the other side, where the functions fall."""
        sign = math.prod(each.sign for each in self.transforms)
        return sign * (share - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for each in reversed(self.transforms):
            value = each._inverse(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._through(self.base_dist.icdf(self._turned(value)))


class LogisticNormal(TransformedDistribution):
    """Shares that sum to 1, made of normal numbers by StickBreakingTransform."""

    arg_constraints = Normal.arg_constraints
    support = constraints.simplex  # type: ignore[assignment]

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        super().__init__(base if base.batch_shape else base.expand((1,)), StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.scale


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
