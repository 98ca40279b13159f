"""Distributions of whole numbers and choices, under the names of torch.distributions."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._gradus._nn import functional as _functional
from .._modes import enable_grad, no_grad
from . import constraints
from ._base import Distribution, tensors
from .gamma import Gamma


def _inside(probs: Any) -> Any:
    """Probabilities whose logarithms are finite."""
    eps = 2.0 ** -52 if probs.dtype is _gradus.float64 else 2.0 ** -23
    return probs.clamp(eps, 1 - eps)


class _OfProbs(Distribution):
    """A distribution of probs or of logits; the other one is computed when it is first asked for."""

    def _take(self, probs: Any, logits: Any) -> Any:
        """Keeps the one that is given, and returns it."""
        if (probs is None) == (logits is None):
            both = "left out" if probs is None else "given"
            raise _gradus.ValueError(f"{type(self).__name__}: probs and logits are both {both}, expected one of them; "
                                     "give probs=... or logits=...")
        self._param = self._normed(probs, logits)
        self.__dict__["logits" if probs is None else "probs"] = self._param
        return self._param

    def _normed(self, probs: Any, logits: Any) -> Any:
        raise NotImplementedError

    def _probs_of(self, logits: Any) -> Any:
        raise NotImplementedError

    def _logits_of(self, probs: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        other = {"probs": "logits", "logits": "probs"}.get(name)
        if other not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with enable_grad():
            value = getattr(self, f"_{name}_of")(self.__dict__[other])
        self.__dict__[name] = value
        return value

    @property
    def param_shape(self) -> Any:
        return self._param.shape


class Categorical(_OfProbs):
    """The numbers 0, 1, ... with these probabilities, along the last dimension.

    probs: they are divided by their sum. logits: the logarithms of the probabilities, plus any number.

    >>> import gradus
    >>> from gradus.distributions import Categorical
    >>> Categorical(gradus.tensor([1.0, 3.0])).log_prob(gradus.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        shape = self._take(probs, logits).shape
        self._num_events = shape[-1]
        super().__init__(shape[:-1], (), validate_args)

    def _normed(self, probs: Any, logits: Any) -> Any:
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise _gradus.ValueError(f"Categorical: {'logits' if probs is None else 'probs'} is {given}, without a dimension; "
                                     "expected one for the choices; use unsqueeze(0)")
        return given - given.logsumexp(-1, keepdim=True) if probs is None else given / given.sum(-1, keepdim=True)

    def _probs_of(self, logits: Any) -> Any:
        return logits.softmax(-1)

    def _logits_of(self, probs: Any) -> Any:
        return _inside(probs).log()

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    @property
    def mean(self) -> Any:
        return self.probs.new_full(self._extended_shape(), float("nan"))

    @property
    def variance(self) -> Any:
        return self.mean

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        count = 1
        for size in sample_shape:
            count *= size
        drawn = _gradus.multinomial(self.probs.reshape(-1, self._num_events), count, True).t()
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        value, logits = _gradus.broadcast_tensors([value.long().unsqueeze(-1), self.logits])
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=-3.4e38)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = _gradus.arange(self._num_events, device=self._param.device).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Forwards:
    """probs and logits, which are those of the distribution `_of`."""

    _of: Any

    @property
    def probs(self) -> Any:
        return self._of.probs

    @property
    def logits(self) -> Any:
        return self._of.logits

    @property
    def param_shape(self) -> Any:
        return self._of.param_shape


class OfChoices(Forwards, Distribution):
    """A distribution of vectors with a number for each choice of a Categorical."""

    arg_constraints = Categorical.arg_constraints

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._of = Categorical(probs, logits, validate_args)
        super().__init__(self.param_shape[:-1], self.param_shape[-1:], validate_args)

    def _one_hot(self, drawn: Any) -> Any:
        return _gradus.one_hot(drawn, self._event_shape[0]).to(self.probs.dtype)


class OneHotCategorical(OfChoices):
    """Vectors of zeros with a 1 at the place that Categorical draws."""

    support = constraints.one_hot  # type: ignore[assignment]

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._one_hot(self._of.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return self._of.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._of.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, whose samples have the gradients of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        probs = self.probs
        return self.sample(sample_shape) + (probs - probs.detach())


class _OfOneProb(_OfProbs):
    """A distribution of one probability."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(self._take(probs, logits).shape, (), validate_args)

    def _normed(self, probs: Any, logits: Any) -> Any:
        return tensors(logits if probs is None else probs)[0]

    def _probs_of(self, logits: Any) -> Any:
        return logits.sigmoid()

    def _logits_of(self, probs: Any) -> Any:
        probs = _inside(probs)
        return probs.log() - _gradus.log1p(-probs)


class Bernoulli(_OfOneProb):
    """1 with the probability probs, else 0."""

    support = constraints.boolean  # type: ignore[assignment]
    has_enumerate_support = True

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    @property
    def mode(self) -> Any:
        out = (self.probs >= 0.5).to(self.probs)
        return out.masked_fill(self.probs == 0.5, float("nan"))

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        return _gradus.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        logits, value = _gradus.broadcast_tensors([self.logits, value])
        return -_functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return _functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        values = _gradus.arange(2, dtype=self._param.dtype).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(_OfOneProb):
    """The number of failures before the first success."""

    support = constraints.nonnegative_integer  # type: ignore[assignment]

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        return _gradus.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1 / self.probs - 1) / self.probs

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        u = _gradus.rand(shape, dtype=self.probs.dtype, device=self.probs.device).clamp(min=2.0 ** -126)
        return (u.log() / _gradus.log1p(-self.probs)).floor()

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return _gradus.xlogy(value, 1 - self.probs) + self.probs.log()

    def entropy(self) -> Any:
        return Bernoulli(self.probs, validate_args=False).entropy() / self.probs


class _OfCount(Forwards, Distribution):
    """A distribution of a count of trials, and of the probability of success."""

    total_count: Any

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        one = Bernoulli(probs, logits, validate_args)
        self.total_count, given = tensors(total_count, one._param)
        self._of = one.expand(given.shape)
        super().__init__(given.shape, (), validate_args)


class Binomial(_OfCount):
    """The number of successes among total_count trials."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return _gradus.binomial(self.total_count.expand(shape).contiguous(), self.probs.expand(shape).contiguous())

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        probs = self.probs
        return ways + _gradus.xlogy(value, probs) + _gradus.xlogy(n - value, 1 - probs)


class NegativeBinomial(_OfCount):
    """The number of successes of probability probs before total_count failures."""

    arg_constraints = {"total_count": constraints.nonnegative, "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer  # type: ignore[assignment]

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(total_count, probs, logits, validate_args)
        if self._validate_args and probs is not None:
            self._check("probs", self.probs, self.arg_constraints["probs"])

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.mean / (-self.logits).sigmoid()

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        rate = Gamma(self.total_count, (-self.logits).exp(), False).sample(sample_shape)
        return _gradus.poisson(rate)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        n, logits = self.total_count, self.logits
        ways = (n + value).lgamma() - (value + 1).lgamma() - n.lgamma()
        ways = _gradus.where(n + value == 0, 0.0, ways)
        return ways - n * _functional.softplus(logits) - value * _functional.softplus(-logits)


class Multinomial(OfChoices):
    """How often each of several results comes in total_count draws."""

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        return self._one_hot(self._of.sample((self.total_count, *sample_shape))).sum(0)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + _gradus.xlogy(value, self.probs).sum(-1)


class Poisson(Distribution):
    """The number of events where `rate` are expected."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer  # type: ignore[assignment]

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self.rate, = tensors(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        return _gradus.poisson(self.rate.expand(self._extended_shape(sample_shape)).contiguous())

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        return _gradus.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()


class MixtureSameFamily(Distribution):
    """A component that a Categorical chooses, of those along the last dimension of the batch."""

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * len(self._event_shape))

    @property
    def mean(self) -> Any:
        return (self._weights() * self.component_distribution.mean).sum(-1 - len(self._event_shape))

    @property
    def variance(self) -> Any:
        dim = -1 - len(self._event_shape)
        means, weights = self.component_distribution.mean, self._weights()
        within = (weights * self.component_distribution.variance).sum(dim)
        return within + (weights * (means - self.mean.unsqueeze(dim)) ** 2).sum(dim)

    @no_grad()
    def sample(self, sample_shape: Any = ()) -> Any:
        dim = len(sample_shape) + len(self._batch_shape)
        chosen = self.mixture_distribution.sample(sample_shape)
        drawn = self.component_distribution.sample(sample_shape)
        places = chosen.reshape(*chosen.shape, 1, *[1] * len(self._event_shape))
        sizes = list(drawn.shape)
        sizes[dim] = 1
        return drawn.gather(dim, places.expand(*sizes)).squeeze(dim)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        each = self.component_distribution.log_prob(value.unsqueeze(-1 - len(self._event_shape)))
        return (each + self.mixture_distribution.logits).logsumexp(-1)

    def cdf(self, value: Any) -> Any:
        self._check_sample(value)
        return (self.component_distribution.cdf(value.unsqueeze(-1)) * self.mixture_distribution.probs).sum(-1)
