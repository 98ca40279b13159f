"""How far one distribution is from another, under the names of torch.distributions.kl."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import _gradus
from ._base import Distribution, Independent
from .continuous import Laplace, Normal, Uniform
from .multivariate import MultivariateNormal
from .positive import Exponential
from .discrete import Bernoulli, Categorical, OneHotCategorical, Poisson
from .gamma import Beta, Dirichlet, Gamma
from .transforms import LogNormal

_formulas: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator for the function that kl_divergence calls for two classes."""
    def decorator(function: Any) -> Any:
        _formulas[type_p, type_q] = function
        return function

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The mean of log p - log q over p.

    >>> from gradus.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _formulas:
                return _formulas[a, b](p, q)
    raise NotImplementedError(f"kl_divergence: no formula is known for {type(p).__name__} and {type(q).__name__}; "
                              "give one with register_kl")


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log()) / 2


@register_kl(LogNormal, LogNormal)
def _log_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    each = p.probs * (p.logits - q.logits)
    each = _gradus.where((q.probs == 0).expand(each.shape), _gradus.full_like(each, math.inf), each)
    return _gradus.where((p.probs == 0).expand(each.shape), _gradus.zeros_like(each), each).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._of, q._of)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    def part(a: Any, b: Any) -> Any:
        return _gradus.xlogy(a, a) - _gradus.xlogy(a, b)  # 0 where both are 0

    return part(p.probs, q.probs) + part(1 - p.probs, 1 - q.probs)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    return p._sum(kl_divergence(p.base_dist, q.base_dist))


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    out = ((q.high - q.low) / (p.high - p.low)).log()
    return _gradus.where((q.low > p.low) | (q.high < p.high), _gradus.full_like(out, math.inf), out)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate - p.rate) * a / p.rate


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    return total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1) + \
        ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._both(), q._both())


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    factor = q.scale_tril
    ratio = _gradus.linalg_solve_triangular(factor, p.scale_tril, upper=False)
    away = _gradus.linalg_solve_triangular(factor, (q.loc - p.loc).unsqueeze(-1), upper=False)
    squares = (ratio ** 2).sum([-2, -1]) + (away ** 2).sum([-2, -1])
    return q._half_log_det() - p._half_log_det() + (squares - p.loc.size(-1)) / 2
