"""Random variables: samples, densities and divergences, under the names of torch.distributions."""

import sys
import types

from . import constraint_registry as constraint_registry, constraints as constraints, kl as kl
from . import transforms as transforms, utils as utils
from ._base import Distribution as Distribution, Independent as Independent
from .constraint_registry import biject_to as biject_to, transform_to as transform_to
from .continuous import Cauchy as Cauchy, Gumbel as Gumbel, Laplace as Laplace, Normal as Normal, StudentT as StudentT
from .continuous import Uniform as Uniform, VonMises as VonMises
from .multivariate import LowRankMultivariateNormal as LowRankMultivariateNormal, MultivariateNormal as MultivariateNormal
from .positive import Exponential as Exponential, HalfCauchy as HalfCauchy, HalfNormal as HalfNormal, Pareto as Pareto
from .positive import Weibull as Weibull
from .discrete import Bernoulli as Bernoulli, Binomial as Binomial, Categorical as Categorical, Geometric as Geometric
from .discrete import MixtureSameFamily as MixtureSameFamily, Multinomial as Multinomial
from .discrete import NegativeBinomial as NegativeBinomial
from .discrete import OneHotCategorical as OneHotCategorical, Poisson as Poisson
from .discrete import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from .gamma import Beta as Beta, Chi2 as Chi2, Dirichlet as Dirichlet, Gamma as Gamma, InverseGamma as InverseGamma
from .kl import kl_divergence as kl_divergence, register_kl as register_kl
from .transforms import AffineTransform as AffineTransform, ComposeTransform as ComposeTransform
from .transforms import ExpTransform as ExpTransform, IndependentTransform as IndependentTransform
from .transforms import LogisticNormal as LogisticNormal, LogNormal as LogNormal, PowerTransform as PowerTransform
from .transforms import RelaxedBernoulli as RelaxedBernoulli, RelaxedOneHotCategorical as RelaxedOneHotCategorical
from .transforms import SigmoidTransform as SigmoidTransform, SoftmaxTransform as SoftmaxTransform
from .transforms import SoftplusTransform as SoftplusTransform, StickBreakingTransform as StickBreakingTransform
from .transforms import TanhTransform as TanhTransform, Transform as Transform
from .transforms import TransformedDistribution as TransformedDistribution

# PyTorch's files, torch.distributions.categorical and its like: each has the names of this module.
_names = {_name: _value for _name, _value in vars(sys.modules[__name__]).items() if isinstance(_value, type)}
for _name in ("bernoulli beta binomial categorical cauchy chi2 dirichlet distribution exponential geometric gumbel half_cauchy "
              "half_normal independent inverse_gamma laplace log_normal logistic_normal lowrank_multivariate_normal "
              "mixture_same_family multinomial multivariate_normal negative_binomial normal one_hot_categorical pareto poisson "
              "relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform von_mises weibull").split():
    _module = types.ModuleType(f"{__name__}.{_name}", __doc__)
    vars(_module).update(_names)
    sys.modules[_module.__name__] = _module
    setattr(sys.modules[__name__], _name, _module)
