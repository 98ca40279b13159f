"""Random variables: samples, densities and divergences, under the names of torch.distributions."""

from . import constraints as constraints, kl as kl, transforms as transforms
from ._base import Distribution as Distribution, Independent as Independent
from .continuous import Cauchy as Cauchy, Exponential as Exponential, Gumbel as Gumbel, HalfNormal as HalfNormal
from .continuous import Laplace as Laplace, MultivariateNormal as MultivariateNormal, Normal as Normal, StudentT as StudentT, Uniform as Uniform
from .discrete import Bernoulli as Bernoulli, Binomial as Binomial, Categorical as Categorical, Geometric as Geometric
from .discrete import MixtureSameFamily as MixtureSameFamily, Multinomial as Multinomial
from .discrete import OneHotCategorical as OneHotCategorical, Poisson as Poisson
from .discrete import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from .gamma import Beta as Beta, Chi2 as Chi2, Dirichlet as Dirichlet, Gamma as Gamma
from .kl import kl_divergence as kl_divergence, register_kl as register_kl
from .transforms import AffineTransform as AffineTransform, ComposeTransform as ComposeTransform
from .transforms import ExpTransform as ExpTransform, LogNormal as LogNormal, RelaxedBernoulli as RelaxedBernoulli
from .transforms import RelaxedOneHotCategorical as RelaxedOneHotCategorical, SigmoidTransform as SigmoidTransform
from .transforms import TanhTransform as TanhTransform, Transform as Transform
from .transforms import TransformedDistribution as TransformedDistribution
