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
