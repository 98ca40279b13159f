"""Weights that are computed: parametrizations, weight_norm, spectral_norm, pruning, and layers fused for eval."""

import copy

import pytest

import gradus
from gradus import nn
from gradus.nn.utils import fusion, parametrizations, parametrize, prune


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Own(nn.Module):
    """A module of Python with a weight."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(gradus.rand(3, 3))

    def forward(self, x):
        return x @ self.weight.mT


@pytest.mark.parametrize("make", [lambda: nn.Linear(3, 3, bias=False), Own])
def test_a_parameter_is_a_function_of_another(make):
    layer = make()
    cls, weight = type(layer), layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert gradus.equal(layer.weight, layer.weight.mT) and isinstance(layer, cls)
    assert [name for name, _ in layer.named_parameters()] == ["parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is weight
    x = gradus.rand(2, 3)
    assert gradus.allclose(layer(x), x @ layer.weight.mT)
    layer(x).sum().backward()
    assert weight.grad.tril(-1).abs().sum() == 0 and weight.grad.abs().sum() > 0
    gradus.optim.SGD(layer.parameters(), lr=0.1).step()
    assert gradus.allclose(layer(x), x @ layer.weight.mT)
    layer.weight = gradus.eye(3)
    assert gradus.equal(layer.weight, gradus.eye(3)) and gradus.allclose(layer(x), x)
    other = copy.deepcopy(layer)
    other.weight = 2 * gradus.eye(3)
    assert gradus.allclose(other(x), 2 * x) and gradus.allclose(layer(x), x)
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is cls and type(layer.weight) is nn.Parameter and gradus.allclose(layer(x), x)


def test_functions_one_after_the_other_and_cached():
    layer, calls = nn.Linear(2, 2), []

    class Twice(nn.Module):
        def forward(self, x):
            calls.append(1)
            return 2 * x

    before = layer.weight.clone()
    for _ in range(2):
        parametrize.register_parametrization(layer, "weight", Twice())
    assert gradus.allclose(layer.weight, 4 * before) and len(layer.parametrizations.weight) == 2
    calls.clear()
    with parametrize.cached():
        layer(gradus.ones(1, 2)), layer.weight, layer(gradus.ones(1, 2))
    assert len(calls) == 2
    with pytest.raises(NotImplementedError, match="right_inverse"):
        layer.weight = gradus.ones(2, 2)
    with pytest.raises(ValueError, match="no parameter or buffer none"):
        parametrize.register_parametrization(layer, "none", Twice())
    with pytest.raises(NotImplementedError, match="LSTM"):
        parametrize.register_parametrization(nn.LSTM(1, 1), "weight_ih_l0", Twice())


@pytest.mark.parametrize("make", [lambda: nn.Linear(4, 3), lambda: nn.Conv2d(2, 3, 2)])
@pytest.mark.parametrize("norm, names", [
    (parametrizations.weight_norm, ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]),
    (nn.utils.weight_norm, ["bias", "weight_g", "weight_v"]),
])
def test_weight_norm(make, norm, names):
    layer = make()
    before = layer.weight.detach().clone()
    x = gradus.rand(2, 4) if before.dim() == 2 else gradus.rand(1, 2, 3, 3)
    expected = layer(x)
    assert norm(layer) is layer and sorted(name for name, _ in layer.named_parameters()) == names
    assert gradus.allclose(layer(x), expected, atol=1e-6)
    g, v = (p for name, p in sorted(layer.named_parameters()) if name != "bias")
    assert g.shape == (3,) + (1,) * (before.dim() - 1)
    layer(x).sum().backward()
    # The gradient of v is at a right angle to v.
    assert abs((v.grad * v).sum().item()) < 1e-4 and v.grad.abs().sum() > 0
    g.data.mul_(2)
    assert gradus.allclose(layer(x) - layer.bias.reshape(-1, *[1] * (before.dim() - 2)),
                           2 * (expected - layer.bias.reshape(-1, *[1] * (before.dim() - 2))), atol=1e-5)
    other = copy.deepcopy(layer)
    assert gradus.allclose(other(x), layer(x))
    if "weight_g" in names:
        nn.utils.remove_weight_norm(layer)
    else:
        parametrize.remove_parametrizations(layer, "weight")
    assert gradus.allclose(layer.weight, 2 * before, atol=1e-6) and len(list(layer.parameters())) == 2
    assert gradus.allclose(layer(x), other(x), atol=1e-5)


@pytest.mark.parametrize("norm", [parametrizations.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm(norm):
    layer = norm(nn.Linear(4, 3), n_power_iterations=20)
    layer(gradus.rand(2, 4)).sum().backward()
    assert abs(gradus.linalg.matrix_norm(layer.weight.detach(), 2).item() - 1) < 1e-3
    original = next(p for name, p in layer.named_parameters() if name.endswith(("original", "weight_orig")))
    assert original.grad.abs().sum() > 0
    conv = norm(nn.ConvTranspose2d(2, 3, 2))
    assert conv(gradus.rand(1, 2, 3, 3)).shape == (1, 3, 4, 4)
    assert [list(b.shape) for _, b in conv.named_buffers()] == [[3], [8]]


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley"])
def test_orthogonal(shape, how):
    layer = parametrizations.orthogonal(nn.Linear(*shape), orthogonal_map=how)
    steps = gradus.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(3):
        w = layer.weight
        product = w @ w.mT if w.size(0) <= w.size(1) else w.mT @ w
        assert gradus.allclose(product, gradus.eye(min(shape)), atol=1e-4)
        before = w.detach().clone()
        steps.zero_grad()
        layer(gradus.rand(2, shape[0])).square().sum().backward()
        steps.step()
        assert not gradus.allclose(layer.weight, before, atol=1e-3) or how == "none"


def test_pruning():
    layer = nn.Linear(4, 2)
    layer.weight.data = gradus.tensor([[1.0, -2.0, 3.0, -4.0], [0.5, 0.0, -8.0, 6.0]])
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1]] and prune.is_pruned(layer)
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight_orig"]
    prune.ln_structured(layer, "weight", amount=1, n=1, dim=0)
    assert layer.weight.tolist() == [[0, 0, 0, 0], [0, 0, -8, 6]]
    (layer(gradus.ones(1, 4)) - layer.bias).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0] * 4, [0, 0, 1, 1]]
    gradus.optim.SGD([layer.weight_orig], lr=1.0).step()
    assert gradus.allclose(layer(gradus.ones(1, 4)) - layer.bias, gradus.tensor([[0.0, -4.0]]))
    assert gradus.equal(copy.deepcopy(layer)(gradus.ones(1, 4)), layer(gradus.ones(1, 4)))
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer) and type(layer.weight) is nn.Parameter and list(layer.state_dict()) == ["weight", "bias"] \
        or sorted(layer.state_dict()) == ["bias", "weight"]
    assert layer.weight.tolist() == [[0, 0, 0, 0], [0, 0, -9, 5]]
    with pytest.raises(ValueError, match="not pruned"):
        prune.remove(layer, "weight")
    with pytest.raises(ValueError, match="amount is 9"):
        prune.random_unstructured(nn.Linear(4, 2), "weight", amount=9)


def test_pruning_of_several():
    a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    a.weight.data, b.weight.data = gradus.tensor([[1.0, 2.0], [3.0, 4.0]]), gradus.tensor([[5.0, 6.0], [7.0, 0.5]])
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=3)
    assert a.weight.tolist() == [[0, 0], [3, 4]] and b.weight.tolist() == [[5, 6], [7, 0]]
    prune.random_structured(b, "weight", amount=1, dim=1)
    assert (b.weight.abs().sum(0) == 0).sum() == 1
    prune.custom_from_mask(a, "weight", gradus.eye(2))
    assert a.weight.tolist() == [[0, 0], [0, 4]]


def test_layers_fused_for_eval():
    for layer, bn, x, fuse in (
            (nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), gradus.rand(1, 2, 5, 5), fusion.fuse_conv_bn_eval),
            (nn.Conv2d(2, 3, 3, bias=False), nn.BatchNorm2d(3), gradus.rand(1, 2, 5, 5), fusion.fuse_conv_bn_eval),
            (nn.Linear(2, 3), nn.BatchNorm1d(3), gradus.rand(4, 2), fusion.fuse_linear_bn_eval)):
        both = nn.Sequential(layer, bn)
        both(x)
        both.eval()
        assert gradus.allclose(fuse(layer, bn)(x), both(x), atol=1e-5)
    with pytest.raises(ValueError, match="eval"):
        fusion.fuse_linear_bn_eval(nn.Linear(2, 3), nn.BatchNorm1d(3))
