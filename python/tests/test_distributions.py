"""gradus.distributions: densities against formulas, samples against moments."""

import math

import pytest

import gradus
from gradus import distributions as d

T = gradus.tensor

# A distribution, a value, and the density or probability there.
VALUES = [
    (d.Normal(1.0, 2.0), 2.0, math.exp(-0.125) / (2 * math.sqrt(2 * math.pi))),
    (d.Laplace(0.0, 1.0), 0.4, math.exp(-0.4) / 2),
    (d.Cauchy(0.0, 1.0), 0.5, 1 / (math.pi * 1.25)),
    (d.Gumbel(0.0, 1.0), 0.5, math.exp(-0.5 - math.exp(-0.5))),
    (d.StudentT(3.0), 0.5, 2 / (math.pi * math.sqrt(3)) / (1 + 0.25 / 3) ** 2),
    (d.Uniform(0.0, 4.0), 1.0, 0.25),
    (d.Exponential(T(2.0)), 0.4, 2 * math.exp(-0.8)),
    (d.Gamma(2.0, 3.0), 0.4, 9 * 0.4 * math.exp(-1.2)),
    (d.Beta(2.0, 3.0), 0.4, 12 * 0.4 * 0.36),
    (d.HalfNormal(1.0), 0.5, 2 * math.exp(-0.125) / math.sqrt(2 * math.pi)),
    (d.LogNormal(0.0, 1.0), 1.5, math.exp(-math.log(1.5) ** 2 / 2) / (1.5 * math.sqrt(2 * math.pi))),
    (d.Poisson(2.0), 3.0, math.exp(-2) * 8 / 6),
    (d.Bernoulli(T(0.3)), 1.0, 0.3),
    (d.Geometric(0.25), 2.0, 0.25 * 0.75 ** 2),
    (d.Binomial(5, T(0.3)), 2.0, 10 * 0.09 * 0.343),
    (d.Categorical(T([1.0, 3.0])), 1, 0.75),
]


@pytest.mark.parametrize("of, value, density", VALUES, ids=lambda x: type(x).__name__)
def test_densities(of, value, density):
    assert abs(of.log_prob(T(value)).exp().item() / density - 1) < 1e-5


@pytest.mark.parametrize("of", [each[0] for each in VALUES if not isinstance(each[0], (d.Cauchy, d.Categorical, d.StudentT))] +
                         [d.Dirichlet(T([0.5, 2.0])), d.Multinomial(4, T([0.25, 0.75])),
                          d.MultivariateNormal(T([1.0, 2.0]), T([[2.0, 0.5], [0.5, 1.0]])), d.Gamma(0.5, 1.0)],
                         ids=lambda x: type(x).__name__)
def test_samples_have_the_moments(of):
    gradus.manual_seed(1)
    x = of.sample((20000,))
    assert x.shape == (20000, *of.batch_shape, *of.event_shape) and not x.requires_grad
    deviation = of.variance.sqrt()
    assert bool(((x.mean(0) - of.mean).abs() < 0.05 * deviation + 1e-3).all())
    heavy = isinstance(of, d.LogNormal)
    assert heavy or bool(((x.var(0) / of.variance - 1).abs() < 0.1).all())


def test_categorical():
    c = d.Categorical(logits=gradus.zeros(2, 3))
    assert c.batch_shape == (2,) and c.sample((4,)).shape == (4, 2) and c.enumerate_support().shape == (3, 2)
    assert abs(c.entropy()[0].item() - math.log(3)) < 1e-6
    drawn = d.Categorical(T([0.0, 0.25, 0.75])).sample((10000,))
    assert drawn.min() == 1 and abs((drawn == 2).float().mean().item() - 0.75) < 0.03
    logits = gradus.zeros(3, requires_grad=True)
    d.Categorical(logits=logits).log_prob(T(1)).backward()
    assert gradus.allclose(logits.grad, T([-1 / 3, 2 / 3, -1 / 3]))


def test_distributions_over_others_have_their_probabilities():
    probs = T([[0.25, 0.75], [0.5, 0.5]])
    for of in (d.OneHotCategorical(probs), d.Multinomial(3, probs), d.RelaxedOneHotCategorical(T(0.5), probs)):
        assert gradus.equal(of.probs, probs) and gradus.allclose(of.logits.exp(), probs) and of.param_shape == (2, 2)
        assert of.batch_shape == (2,) and of.event_shape == (2,) and of.expand((3, 2)).sample((4,)).shape == (4, 3, 2, 2)
    for of in (d.Binomial(3, T(0.25)), d.RelaxedBernoulli(T(0.5), T(0.25))):
        assert of.probs == 0.25 and abs(of.logits.item() + math.log(3)) < 1e-6 and of.expand((3,)).sample().shape == (3,)
    several = d.Binomial(T([1.0, 2.0]), 0.5)
    assert several.batch_shape == several.probs.shape == (2,) and several.expand((3, 2)).sample().shape == (3, 2)


def test_the_other_parameter_is_computed_once():
    c = d.Categorical(T([1.0, 3.0], requires_grad=True))
    assert repr(c) == "Categorical(probs: gradus.Size([2]))"
    with gradus.no_grad():
        logits = c.logits
    assert logits.requires_grad and c.logits is logits and "logits: " in repr(c)
    with pytest.raises(AttributeError, match="'Categorical' object has no attribute 'scale'"):
        c.scale


def test_gradients_go_through_samples():
    loc, scale = T(1.0, requires_grad=True), T(2.0, requires_grad=True)
    x = d.Normal(loc, scale).rsample()
    x.backward()
    assert loc.grad == 1 and abs(scale.grad.item() - (x.item() - 1) / 2) < 1e-6
    with pytest.raises(NotImplementedError, match="Poisson has no rsample"):
        d.Poisson(1.0).rsample()


@pytest.mark.parametrize("a", [0.01, 0.5, 1.0, 3.0, 40.0, 2000.0, 3e6])
def test_a_gamma_number_moves_with_its_shape(a):
    """F(x(a), a) is the same share for all a, so that its derivative by a is 0: against differences of x, by F again."""
    gradus.manual_seed(3)
    shape = gradus.full((50,), a, dtype=gradus.float64, requires_grad=True)
    x = d.Gamma(shape, 1.0).rsample()
    x.sum().backward()
    assert bool((shape.grad >= 0).all())
    x, h = x.detach(), a * 1e-4
    for sign in (1, -1):  # moved by the derivative, it has its share still
        moved = (x + sign * h * shape.grad).clamp(min=0)
        below = [gradus.igamma(T(a, dtype=gradus.float64).expand(50), x),
                 gradus.igamma(T(a + sign * h, dtype=gradus.float64).expand(50), moved)]
        assert ((below[0] - below[1]).abs() < 1e-5).all()


@pytest.mark.parametrize("of, mean, parameter", [
    (lambda p: d.Gamma(p, 2.0), lambda p: p / 2, 1.5), (lambda p: d.Gamma(3.0, p), lambda p: 3 / p, 2.0),
    (lambda p: d.Chi2(p), lambda p: p, 3.0), (lambda p: d.Beta(p, 2.0), lambda p: p / (p + 2), 1.5),
    (lambda p: d.Dirichlet(gradus.stack([p, T(1.0), T(2.0)])), lambda p: p / (p + 3), 2.0),
    (lambda p: d.StudentT(8.0, p, 2.0), lambda p: p, 1.0)], ids=["Gamma", "rate", "Chi2", "Beta", "Dirichlet", "StudentT"])
def test_gradients_of_samples_are_those_of_the_mean(of, mean, parameter):
    gradus.manual_seed(4)
    p = T(parameter, requires_grad=True)
    distribution = of(p)
    x = distribution.rsample((20000,))
    assert distribution.has_rsample and not distribution.sample().requires_grad
    x = x[:, 0] if x.dim() == 2 else x
    slope, = gradus.autograd.grad(x.mean(), p)
    expected, = gradus.autograd.grad(mean(p), p)
    assert abs(slope.item() - expected.item()) < 0.03 * abs(expected.item())


def test_a_student_number_moves_with_its_degrees():
    gradus.manual_seed(5)
    df = T(6.0, requires_grad=True)  # the variance is df / (df - 2), whose derivative is -2 / (df - 2)^2
    slope, = gradus.autograd.grad((d.StudentT(df).rsample((200000,)) ** 2).mean(), df)
    assert abs(slope.item() + 2 / 16) < 0.02


def test_parts_and_functions_of_distributions():
    base = d.Normal(gradus.zeros(4, 3), 1.0)
    both = d.Independent(base, 1)
    assert both.batch_shape == (4,) and both.event_shape == (3,)
    x = gradus.rand(4, 3)
    assert gradus.allclose(both.log_prob(x), base.log_prob(x).sum(-1))
    squashed = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.TanhTransform()])
    assert abs(squashed.log_prob(T(0.2)).item() - (d.Normal(0.0, 1.0).log_prob(gradus.atanh(T(0.2))) -
                                                   math.log(1 - 0.04)).item()) < 1e-5
    mixed = d.MixtureSameFamily(d.Categorical(T([1.0, 3.0])), d.Normal(T([0.0, 4.0]), 1.0))
    assert abs(mixed.mean.item() - 3) < 1e-6 and abs(mixed.sample((20000,)).mean().item() - 3) < 0.1
    expected = 0.25 * d.Normal(0.0, 1.0).log_prob(T(1.0)).exp() + 0.75 * d.Normal(4.0, 1.0).log_prob(T(1.0)).exp()
    assert gradus.allclose(mixed.log_prob(T(1.0)).exp(), expected)
    assert d.Normal(gradus.zeros(3), 1.0).expand((2, 3)).sample().shape == (2, 3)


@pytest.mark.parametrize("p, q", [
    (d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)), (d.Gamma(2.0, 3.0), d.Gamma(3.0, 2.0)), (d.Beta(2.0, 3.0), d.Beta(1.0, 1.0)),
    (d.Laplace(0.0, 1.0), d.Laplace(0.5, 2.0)), (d.Exponential(1.0), d.Exponential(2.0)), (d.Poisson(2.0), d.Poisson(3.0)),
    (d.Categorical(T([0.2, 0.8])), d.Categorical(T([0.5, 0.5]))), (d.Bernoulli(T(0.2)), d.Bernoulli(T(0.6))),
    (d.MultivariateNormal(gradus.zeros(2), gradus.eye(2)), d.MultivariateNormal(gradus.ones(2), 2 * gradus.eye(2))),
    (d.Dirichlet(T([1.0, 2.0])), d.Dirichlet(T([2.0, 1.0]))), (d.Uniform(0.0, 1.0), d.Uniform(-1.0, 2.0)),
], ids=lambda x: type(x).__name__)
def test_divergences_are_means_over_samples(p, q):
    gradus.manual_seed(2)
    x = p.sample((20000,))
    difference = p.log_prob(x) - q.log_prob(x)
    assert abs(d.kl_divergence(p, q).item() - difference.mean().item()) < 4 * difference.std().item() / 141 + 1e-5


def test_wrong_arguments_are_errors():
    for wrong, name in ((lambda: d.Normal(0.0, -1.0), "Normal: scale"), (lambda: d.Categorical(), "Categorical"),
                        (lambda: d.Bernoulli(T(1.5)), "Bernoulli: probs"), (lambda: d.Uniform(1.0, 0.0), "Uniform"),
                        (lambda: d.Exponential(1.0).log_prob(T(-1.0)), "Exponential: log_prob")):
        with pytest.raises(ValueError, match=name):
            wrong()
    says = r"Normal: scale has -2.0, expected numbers above 0.0; give such values, or validate_args=False"
    with pytest.raises(ValueError, match=says):
        d.Normal(0.0, T([1.0, -2.0, -3.0]))
    says = r"OneHotCategorical: log_prob: value has \[1.0, 1.0\], expected vectors of zeros and one 1"
    with pytest.raises(ValueError, match=says):
        d.OneHotCategorical(T([0.5, 0.5])).log_prob(T([[0.0, 1.0], [1.0, 1.0]]))
    with pytest.raises(ValueError, match="Uniform: log_prob: value has 3.0, expected numbers from "):
        d.Uniform(T([0.0, 1.0]), T([4.0, 2.0])).log_prob(T(3.0))
    for given, both in (({}, "left out"), ({"probs": T([1.0]), "logits": T([1.0])}, "given")):
        with pytest.raises(ValueError, match=f"Multinomial|Categorical: probs and logits are both {both}, expected one of them"):
            d.Multinomial(2, **given)
    assert d.Normal(0.0, -1.0, validate_args=False).scale == -1
    with pytest.raises(NotImplementedError, match="register_kl"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Poisson(1.0))


def test_divergences_of_what_is_certain():
    """0 of equal ones, also at probabilities 0 and 1; infinite where q excludes what p draws."""
    sure = d.Bernoulli(gradus.tensor([0.0, 1.0, 0.0]))
    assert d.kl_divergence(sure, sure).tolist() == [0, 0, 0]
    assert d.kl_divergence(sure, d.Bernoulli(gradus.tensor([1.0, 0.5, 0.5]))).isinf().tolist() == [True, False, False]


# A class, its arguments as lists and numbers, values, and what is compared besides log_prob.
AGAINST_TORCH = [
    ("NegativeBinomial", {"total_count": 3.0, "probs": [0.25, 0.5]}, [2.0, 0.0], "mean mode variance"),
    ("NegativeBinomial", {"total_count": [0.0, 2.5], "logits": [0.3, -1.0]}, [0.0, 3.0], "mean mode variance"),
    ("Weibull", {"scale": [1.0, 2.0], "concentration": [1.5, 3.0]}, [0.5, 1.5], "mean mode variance entropy cdf icdf"),
    ("Pareto", {"scale": [1.0, 0.5], "alpha": [0.75, 3.0]}, [1.5, 0.8], "mean mode variance entropy cdf icdf"),
    ("HalfCauchy", {"scale": [1.0, 2.0]}, [0.5, 3.0], "mean mode variance entropy cdf icdf"),
    ("InverseGamma", {"concentration": [0.5, 3.0], "rate": [1.0, 2.0]}, [0.5, 0.3], "mean mode variance entropy cdf"),
    ("VonMises", {"loc": [0.5, -1.0], "concentration": [0.1, 4.0]}, [0.7, -0.9], "mean mode variance"),
    ("LowRankMultivariateNormal", {"loc": [1.0, 2.0, 0.0], "cov_factor": [[1.0], [0.5], [-2.0]], "cov_diag": [1.0, 2.0, 0.5]},
     [0.5, 1.0, 1.5], "mean mode variance entropy covariance_matrix precision_matrix scale_tril"),
    ("LogisticNormal", {"loc": [0.1, -0.5], "scale": [1.0, 2.0]}, [0.2, 0.3, 0.5], "loc scale"),
    ("MultivariateNormal", {"loc": [1.0, 2.0], "precision_matrix": [[2.0, 0.5], [0.5, 1.0]]}, [0.0, 1.0],
     "mean variance entropy covariance_matrix precision_matrix scale_tril"),
    ("Gamma", {"concentration": [0.5, 2.0], "rate": [1.0, 3.0]}, [0.5, 1.0], "cdf"), ("Chi2", {"df": [3.0, 1.0]}, [0.5, 2.0], "cdf"),
    ("HalfNormal", {"scale": [0.5, 2.0]}, [0.3, 1.0], "cdf icdf"), ("LogNormal", {"loc": [0.5, 0.0], "scale": 2.0}, [0.3, 0.9], "cdf icdf"),
]


@pytest.mark.parametrize("name, arguments, value, names", AGAINST_TORCH)
def test_a_distribution_is_that_of_torch(name, arguments, value, names):
    torch = pytest.importorskip("torch")

    def made(library, home):
        return getattr(home, name)(**{key: library.tensor(each, dtype=library.float64) for key, each in arguments.items()})

    ours, theirs = made(gradus, d), made(torch, torch.distributions)
    assert tuple(ours.batch_shape) == tuple(theirs.batch_shape) and tuple(ours.event_shape) == tuple(theirs.event_shape)
    x = T(value, dtype=gradus.float64)
    for part in ["log_prob", *names.split()]:
        expected, given = getattr(theirs, part), getattr(ours, part)
        if callable(expected):
            argument = torch.tensor(value, dtype=torch.float64) if part in ("log_prob", "cdf") else torch.tensor([0.2, 0.7]).double()
            some = [] if part == "entropy" else [argument]
            expected, given = expected(*some), given(*[T(each.tolist(), dtype=gradus.float64) for each in some])
        assert tuple(given.shape) == tuple(expected.shape), part
        assert gradus.allclose(given, T(expected.tolist(), dtype=gradus.float64), rtol=1e-5, equal_nan=True), part
    larger = ours.expand((4, *ours.batch_shape))
    assert tuple(larger.sample((2,)).shape) == (2, 4, *theirs.batch_shape, *theirs.event_shape)
    assert gradus.allclose(larger.log_prob(x)[3], ours.log_prob(x))


@pytest.mark.parametrize("of", [
    d.NegativeBinomial(3.0, T(0.25)), d.Weibull(2.0, T(1.5)), d.Pareto(1.0, T(6.0)), d.InverseGamma(T(6.0), 2.0),
    d.LowRankMultivariateNormal(T([1.0, 2.0]), T([[1.0], [0.5]]), T([1.0, 2.0]))], ids=lambda x: type(x).__name__)
def test_samples_of_more_distributions_have_the_moments(of):
    test_samples_have_the_moments(of)


def test_samples_by_their_shares():
    gradus.manual_seed(6)
    angles = d.VonMises(T([3.0, 0.0]), T([2.0, 1e-7])).sample((20000,))
    assert bool((angles.abs() <= math.pi + 1e-6).all())
    around = angles[:, 0] - 3
    assert abs(around.sin().mean().item()) < 0.02 and abs(1 - around.cos().mean().item() - d.VonMises(3.0, 2.0).variance.item()) < 0.02
    x = d.HalfCauchy(2.0).sample((20000,))
    assert abs((x < d.HalfCauchy(2.0).icdf(T(0.5))).float().mean().item() - 0.5) < 0.02
    shares = d.LogisticNormal(gradus.zeros(3), gradus.ones(3)).sample((5,))
    assert shares.shape == (5, 4) and gradus.allclose(shares.sum(-1), gradus.ones(5))
    p = T(1.5, requires_grad=True)
    for of in (d.Weibull(p, p), d.Pareto(p, p), d.InverseGamma(p, p), d.HalfCauchy(p)):
        assert bool(gradus.autograd.grad(of.rsample(), p)[0].isfinite())


def test_a_mixture_has_the_shares_of_its_parts():
    mixed = d.MixtureSameFamily(d.Categorical(T([1.0, 3.0])), d.Normal(T([0.0, 4.0]), 1.0))
    expected = 0.25 * d.Normal(0.0, 1.0).cdf(T([1.0, 5.0])) + 0.75 * d.Normal(4.0, 1.0).cdf(T([1.0, 5.0]))
    assert gradus.allclose(mixed.cdf(T([1.0, 5.0])), expected)


TRANSFORMS = [
    ("SoftplusTransform", (), [-1.0, 0.5, 3.0]), ("PowerTransform", (-0.5,), [1.0, 0.5, 3.0]),
    ("StickBreakingTransform", (), [-1.0, 0.5, 3.0]),
    ("SoftmaxTransform", (), [-1.0, 0.5, 3.0]), ("AffineTransform", (1.0, -2.0), [-1.0, 0.5, 3.0])]


@pytest.mark.parametrize("name, arguments, x", TRANSFORMS, ids=[each[0] for each in TRANSFORMS])
def test_a_transform_is_that_of_torch(name, arguments, x):
    torch = pytest.importorskip("torch")
    ours = getattr(d.transforms, name)(*map(T, arguments))
    theirs = getattr(torch.distributions.transforms, name)(*map(torch.tensor, arguments))
    y, expected = ours(T(x)), theirs(torch.tensor(x))
    assert gradus.allclose(y, T(expected.tolist())) and gradus.allclose(ours.inv(y), T(theirs.inv(expected).tolist()), atol=1e-5)
    assert ours.bijective == theirs.bijective and tuple(ours.forward_shape((2, 3))) == tuple(theirs.forward_shape((2, 3)))
    assert tuple(ours.inv.forward_shape((2, 3))) == tuple(theirs.inv.forward_shape((2, 3)))
    if ours.bijective:
        expected = theirs.log_abs_det_jacobian(torch.tensor(x), expected)
        assert gradus.allclose(ours.log_abs_det_jacobian(T(x), y), T(expected.tolist()))
        together = d.IndependentTransform(ours, 1) if not ours.event_dim else ours
        assert gradus.allclose(together.log_abs_det_jacobian(T(x), y), T(expected.sum().tolist()))


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("constraint", [
    lambda c: c.real, lambda c: c.real_vector, lambda c: c.positive, lambda c: c.nonnegative, lambda c: c.greater_than(2.0),
    lambda c: c.less_than(2.0), lambda c: c.unit_interval, lambda c: c.interval(-1.0, 3.0), lambda c: c.half_open_interval(0.0, 2.0),
    lambda c: c.simplex])
def test_a_constraint_has_the_transform_of_torch(registry, constraint):
    torch = pytest.importorskip("torch")
    x = [-1.0, 0.5, 3.0]
    ours, theirs = getattr(d, registry)(constraint(d.constraints)), getattr(torch.distributions, registry)(
        constraint(torch.distributions.constraints))
    y, expected = ours(T(x)), theirs(torch.tensor(x))
    assert gradus.allclose(y, T(expected.tolist())) and bool(constraint(d.constraints).check(y).all())
    assert gradus.allclose(ours.inv(y), T(theirs.inv(expected).tolist()), atol=1e-5)
    if ours.bijective:
        assert gradus.allclose(ours.log_abs_det_jacobian(T(x), y), T(theirs.log_abs_det_jacobian(torch.tensor(x), expected).tolist()))


def test_a_constraint_without_a_transform_is_an_error():
    with pytest.raises(NotImplementedError, match="none is known for OneHot"):
        d.biject_to(d.constraints.one_hot)


def test_shares_of_functions_that_fall():
    of = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.AffineTransform(1.0, -2.0)])
    below = d.Normal(1.0, 2.0)
    assert gradus.allclose(of.cdf(T([0.0, 2.0])), below.cdf(T([0.0, 2.0])))
    assert gradus.allclose(of.icdf(T([0.2, 0.9])), below.icdf(T([0.2, 0.9])))


def test_modules_have_the_names_of_those_of_torch():
    torch = pytest.importorskip("torch")
    import importlib

    for name in dir(torch.distributions):
        kind = getattr(torch.distributions, name)
        if isinstance(kind, type) and hasattr(d, name):
            assert getattr(importlib.import_module(kind.__module__.replace("torch", "gradus")), name) is getattr(d, name)
    from gradus.distributions.categorical import Categorical
    from gradus.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

    assert Categorical is d.Categorical and isinstance(d.MultivariateNormal.scale_tril, lazy_property)
    assert [x.shape for x in broadcast_all(T([1.0, 2.0]), 3)] == [(2,), (2,)] and clamp_probs(T([0.0])) > 0
    assert gradus.allclose(probs_to_logits(logits_to_probs(T([0.5, -1.0]), True), True), T([0.5, -1.0]))


def test_errors_are_those_of_torch():
    for of in (d.Normal(0.0, 1.0), d.StudentT(3.0), d.Categorical(T([0.5, 0.5])), d.Multinomial(2, T([0.5, 0.5])),
               d.LogNormal(0.0, 1.0), d.Independent(d.Normal(T([0.0]), 1.0), 1),
               d.MixtureSameFamily(d.Categorical(T([1.0, 3.0])), d.Normal(T([0.0, 4.0]), 1.0))):
        with pytest.raises(ValueError, match="the value argument is 2, of type int; expected a Tensor"):
            of.log_prob(2)
    with pytest.raises(ValueError, match="expected a Tensor"):
        d.Normal(0.0, 1.0).cdf(0.5)
    assert d.Normal(0.0, 1.0, validate_args=False).log_prob(0) < 0
    zeros, eye = gradus.zeros(2), gradus.eye(2)
    for matrix in ({"covariance_matrix": -eye}, {"precision_matrix": -eye}, {"scale_tril": -eye},
                   {"covariance_matrix": T([[1.0, 2.0], [0.0, 1.0]])}):
        with pytest.raises(ValueError, match=f"MultivariateNormal: {next(iter(matrix))} has"):
            d.MultivariateNormal(zeros, **matrix)
    with pytest.raises(ValueError, match="NegativeBinomial: probs has 1.0"):
        d.NegativeBinomial(2, T(1.0))
    with pytest.raises(ValueError, match="cov_factor has the shape"):
        d.LowRankMultivariateNormal(zeros, eye[:1], gradus.ones(2))
    assert repr(d.MultivariateNormal(zeros, eye)) == "MultivariateNormal(loc: gradus.Size([2]), covariance_matrix: gradus.Size([2, 2]))"


def test_a_matrix_of_a_batch_is_kept_with_its_gradient():
    matrix = gradus.eye(2).requires_grad_()
    of = d.MultivariateNormal(gradus.zeros(3, 2), matrix)
    assert of.covariance_matrix.shape == of.scale_tril.shape == (3, 2, 2)
    with gradus.no_grad():
        assert of.precision_matrix.requires_grad
    larger = of.expand((4, 3))
    assert larger.precision_matrix.shape == larger.covariance_matrix.shape == (4, 3, 2, 2)
    assert larger.log_prob(gradus.zeros(2)).shape == (4, 3)
