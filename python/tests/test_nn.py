"""Modules in Python: those of C++, and those that Python derives."""

import copy
import pickle
import re

import pytest

import gradus
from gradus import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 2)
        self.scale = nn.Parameter(gradus.ones(1))
        self.register_buffer("steps", gradus.zeros(1))
        self.note = "text"

    def forward(self, x):
        return self.fc2(nn.functional.relu(self.fc1(x))) * self.scale


def test_attributes_register():
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert sorted(names) == ["fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight", "scale"]
    assert set(net.state_dict()) == {*names, "steps"}
    assert [name for name, _ in net.named_children()] == ["fc1", "fc2"]
    assert net.fc1 is net.fc1 and net.scale is net.scale
    assert all(isinstance(p, nn.Parameter) for p in net.parameters())
    assert net.note == "text"
    assert net(gradus.rand(3, 4)).shape == (3, 2)


def test_attributes_are_replaced():
    net = Net()
    net.fc2 = nn.Linear(8, 5)
    assert net(gradus.rand(3, 4)).shape == (3, 5)
    net.scale = nn.Parameter(gradus.full((1,), 2.0))
    assert dict(net.named_parameters())["scale"].item() == 2
    with pytest.raises(TypeError, match="nn.Parameter"):
        net.scale = gradus.ones(1)
    with pytest.raises(AttributeError, match="nothing"):
        net.nothing


def test_state_is_loaded_by_name():
    a, b = Net(), Net()
    b.load_state_dict(a.state_dict())
    x = gradus.rand(3, 4)
    assert gradus.equal(a(x), b(x))
    with pytest.raises(ValueError, match="fc3"):
        b.load_state_dict({**a.state_dict(), "fc3.weight": gradus.ones(1)})


def test_modes_reach_what_is_below():
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), Net())
    net.eval()
    assert not any(module.training for module in net.modules())
    net.train()
    assert all(module.training for module in net.modules())


def test_hooks():
    gradus.manual_seed(0)
    net = Net()
    seen = []
    net.fc1.register_forward_hook(lambda module, args, output: seen.append(output.shape))
    handle = net.register_forward_pre_hook(lambda module, args: (args[0] * 0,))
    out = net(gradus.rand(3, 4))
    assert seen == [(3, 8)] and gradus.equal(out[0], out[1])
    handle.remove()
    out = net(gradus.rand(3, 4))
    assert not gradus.equal(out[0], out[1])


# Layers, and what PyTorch prints of them.
TEXTS = [
    (nn.Linear(3, 4), "Linear(in_features=3, out_features=4, bias=True)"),
    (nn.Conv2d(1, 2, 3), "Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))"),
    (nn.Conv2d(2, 4, (3, 5), 2, 1, 2, 2, False, "reflect"), "Conv2d(2, 4, kernel_size=(3, 5), stride=(2, 2), padding=(1, 1), "
     "dilation=(2, 2), groups=2, bias=False, padding_mode=reflect)"),
    (nn.Conv1d(2, 4, 3, padding="same"), "Conv1d(2, 4, kernel_size=(3,), stride=(1,), padding=same)"),
    (nn.MaxPool2d(2), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"),
    (nn.MaxPool2d((2, 3), 1), "MaxPool2d(kernel_size=(2, 3), stride=1, padding=0, dilation=1, ceil_mode=False)"),
    (nn.AvgPool2d(2), "AvgPool2d(kernel_size=2, stride=2, padding=0)"),
    (nn.AdaptiveAvgPool2d((1, None)), "AdaptiveAvgPool2d(output_size=(1, None))"),
    (nn.LayerNorm(4), "LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)"),
    (nn.LSTM(2, 3, 2, batch_first=True, dropout=0.5), "LSTM(2, 3, num_layers=2, batch_first=True, dropout=0.5)"),
    (nn.Embedding(4, 3, padding_idx=0), "Embedding(4, 3, padding_idx=0)"),
    (nn.EmbeddingBag(4, 3, mode="sum"), "EmbeddingBag(4, 3, mode='sum')"),
    (nn.ReLU(), "ReLU()"), (nn.ReLU(True), "ReLU(inplace=True)"), (nn.Dropout(), "Dropout(p=0.5, inplace=False)"),
    (nn.LogSoftmax(1), "LogSoftmax(dim=1)"), (nn.CrossEntropyLoss(label_smoothing=0.1), "CrossEntropyLoss()"),
    (nn.Upsample(scale_factor=2, mode="bilinear"), "Upsample(scale_factor=2.0, mode='bilinear')"),
    (nn.Sequential(), "Sequential()"),
    (nn.Sequential(nn.Linear(3, 4), nn.ModuleDict({"a": nn.Tanh()})), "Sequential(\n  (0): Linear(in_features=3, out_features=4, "
     "bias=True)\n  (1): ModuleDict(\n    (a): Tanh()\n  )\n)"),
    (nn.ModuleList([nn.Tanh(), nn.Tanh(), nn.ReLU()]), "ModuleList(\n  (0-1): 2 x Tanh()\n  (2): ReLU()\n)"),
    (nn.ParameterList([gradus.ones(2), gradus.ones(())]), "ParameterList(\n    (0): Parameter containing: [gradus.float32 of size 2]"
     "\n    (1): Parameter containing: [gradus.float32 of size ]\n)"),
    (nn.ParameterDict({"a": gradus.ones(2)}), "ParameterDict(  (a): Parameter containing: [gradus.float32 of size 2])"),
    (nn.ParameterList([gradus.ones(2, 3)]), "ParameterList(  (0): Parameter containing: [gradus.float32 of size 2x3])"),
]


@pytest.mark.parametrize("module, text", TEXTS, ids=lambda x: type(x).__name__)
def test_text(module, text):
    assert repr(module) == text


def test_text_of_ones_own_module():
    class Noise(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def extra_repr(self):
            return "sigma=1\nseed=2"

    assert repr(Noise()) == "Noise(\n  sigma=1\n  seed=2\n  (fc): Linear(in_features=2, out_features=2, bias=True)\n)"

    class Layer(nn.Linear):
        pass

    assert repr(Layer(2, 2)) == "Layer(in_features=2, out_features=2, bias=True)"


def test_copies():
    net = Net()
    other = copy.deepcopy(net)
    x = gradus.rand(3, 4)
    assert gradus.equal(net(x), other(x))
    with gradus.no_grad():
        other.scale.mul_(2)
    assert not gradus.equal(net(x), other(x))


def test_options_are_checked():
    for f in (lambda: nn.Linear(), lambda: nn.Linear(1), lambda: nn.Linear(1, 2, True, None, None, 3),
              lambda: nn.Linear(1, 2, biass=True), lambda: nn.Linear("a", 2)):
        with pytest.raises(TypeError, match="Linear"):
            f()
    assert nn.Linear(1, 2, bias=False).bias is None
    assert nn.Linear(1, 2, dtype=gradus.float64).weight.dtype is gradus.float64


def test_a_net_is_trained():
    gradus.manual_seed(0)
    net = Net()
    x = gradus.rand(64, 4)
    y = (x.sum(1) > 2).long()
    loss_of = nn.CrossEntropyLoss()
    adam = gradus.optim.Adam(net.parameters(), lr=0.02, betas=(0.8, 0.9))
    first = loss_of(net(x), y).item()
    for _ in range(50):
        adam.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        adam.step()
    assert loss.item() < first / 3


def test_groups_of_an_optimizer():
    net = Net()
    sgd = gradus.optim.SGD([{"params": net.fc1.parameters(), "lr": 0.5}, {"params": net.fc2.parameters()}], lr=0.1)
    assert [group["lr"] for group in sgd.param_groups] == [0.5, 0.1]
    for group in sgd.param_groups:
        group["lr"] *= 0.1
    assert [group["lr"] for group in sgd.param_groups] == pytest.approx([0.05, 0.01])
    assert sgd.param_groups[0]["params"][0] is net.fc1.weight
    with pytest.raises(TypeError, match="momentun"):
        gradus.optim.SGD(net.parameters(), lr=0.1, momentun=0.9)
    with pytest.raises(ValueError):
        gradus.optim.SGD(net.parameters(), lr=-1)


def test_a_closure_is_called():
    x = gradus.tensor([3.0], requires_grad=True)
    lbfgs = gradus.optim.LBFGS([x], lr=1)

    def closure():
        lbfgs.zero_grad()
        loss = ((x - 1) ** 2).sum()
        loss.backward()
        return loss

    first = lbfgs.step(closure)
    assert first.item() == 4 and abs(x.item() - 1) < 1e-4


@pytest.mark.parametrize("make, equal", [
    (lambda: nn.MaxPool2d(2), lambda: nn.MaxPool2d(2, 2)),
    (lambda: nn.MaxPool2d(2, stride=None), lambda: nn.MaxPool2d(2, 2)),
    (lambda: nn.MaxPool2d(3, None, 1), lambda: nn.MaxPool2d(3, 3, 1)),
    (lambda: nn.AvgPool2d((2, 1)), lambda: nn.AvgPool2d((2, 1), (2, 1))),
    (lambda: nn.LPPool2d(2, 2), lambda: nn.LPPool2d(2, 2, 2)),
])
def test_a_default_follows_from_the_arguments(make, equal):
    x = gradus.rand(1, 2, 6, 6)
    assert gradus.equal(make()(x), equal()(x))


def test_a_default_follows_from_the_arguments_elsewhere():
    x = gradus.rand(1, 2, 6, 6)
    assert gradus.equal(nn.functional.max_pool2d(x, 3), nn.functional.max_pool2d(x, 3, 3))
    attention = nn.MultiheadAttention(8, 2)
    assert attention(*[gradus.rand(3, 1, 8)] * 3)[0].shape == (3, 1, 8)
    values, indices = nn.functional.max_pool2d_with_indices(x, 2)
    assert nn.MaxUnpool2d(2)(values, indices).shape == x.shape


def test_forward_takes_keywords():
    x, y = gradus.rand(2, 3), gradus.rand(2, 3)
    layer, loss = nn.Linear(3, 3), nn.MSELoss()
    assert gradus.equal(layer(input=x), layer(x))
    assert gradus.equal(loss(input=x, target=y), loss(x, y)) and gradus.equal(loss(x, target=y), loss(x, y))
    assert gradus.equal(nn.CosineSimilarity()(x1=x, x2=y), nn.CosineSimilarity()(x, y))
    with pytest.raises(TypeError, match="inputs is unknown"):
        layer(inputs=x)


def test_an_option_called_dtype_reaches_the_module():
    assert nn.Softmax(0, dtype=gradus.float64)(gradus.rand(3)).dtype == gradus.float64


def test_functions_of_layers_take_keywords():
    F = gradus.nn.functional
    x, target = gradus.rand(2, 3), gradus.tensor([0, 2])
    assert F.cross_entropy(input=x, target=target) == F.cross_entropy(x, target)
    assert F.triplet_margin_loss(anchor=x, positive=x, negative=x + 1, margin=2.0) == F.triplet_margin_loss(x, x, x + 1, 2.0)
    assert F.layer_norm(x, normalized_shape=(3,)).equal(F.layer_norm(input=x, normalized_shape=(3,)))
    with pytest.raises(TypeError, match="cross_entropy: the argument target is missing"):
        F.cross_entropy(x)
    with pytest.raises(TypeError, match="cross_entropy: target is 'a'; expected a Tensor"):
        F.cross_entropy(x, "a")
    with pytest.raises(TypeError, match="input"):
        F.cross_entropy(x, target, input=x)


VALUES = {"int": 1, "float": 1.0, "Tensor": gradus.ones(1)}


def options_that_are_texts():
    """(name, what is called, its arguments, the option): each option of a layer or a function that is a text."""
    functions = gradus._gradus._nn.functional
    for home, name in [(nn, each) for each in dir(nn)] + [(functions, each) for each in dir(functions)]:
        function = getattr(home, name)
        signature = getattr(getattr(function, "__init__", None) if isinstance(function, type) else function,
                            "__nb_signature__", None)
        if not signature or "device: device" in signature[0][0] and home is functions:
            continue
        options = re.findall(r"(\w+): ((?:[^,=\[\]()]|\[[^\]]*\])+?)( = |[,)])", signature[0][0])
        required = [VALUES.get(kind.split(" | ")[0].strip(), 1) for _, kind, after in options if after != " = "]
        for option, kind, _ in options:
            if "str" in kind.split(" | ")[0].strip() and option not in ("device", "approximate"):
                yield pytest.param(function, required, option, id=f"{name}-{option}")


@pytest.mark.parametrize("function, required, option", list(options_that_are_texts()))
def test_a_text_that_is_no_choice_names_the_choices(function, required, option):
    with pytest.raises(ValueError, match=f"{option} is 'no such text'; expected one of [a-z]+(, [a-z_0-9-]+)*$"):
        function(*required, **{option: "no such text"})


def test_options_that_are_texts_are_found():
    assert len(list(options_that_are_texts())) > 50


def test_a_value_that_is_no_text_is_a_type_error():
    with pytest.raises(ValueError, match="reduction is 'avg'; expected one of none, mean, sum, batchmean"):
        gradus.nn.MSELoss(reduction="avg")
    with pytest.raises(ValueError, match="one of zeros, reflect, replicate, circular, constant, border, reflection"):
        gradus.nn.functional.grid_sample(gradus.ones(1, 1, 2, 2), gradus.ones(1, 1, 1, 2), padding_mode="mirror")
    with pytest.raises(TypeError, match="padding_mode is 3; expected str"):
        gradus.nn.Conv2d(1, 1, 1, padding_mode=3)
    with pytest.raises(TypeError, match=r"padding is None; expected str \| int"):
        gradus.nn.Conv2d(1, 1, 1, padding=None)
    with pytest.raises(TypeError, match="mode is 3; expected str$"):
        gradus.nn.EmbeddingBag(2, 2, mode=3)
    with pytest.raises(TypeError, match="lr is 'fast'; expected float"):
        gradus.optim.SGD([gradus.nn.Parameter(gradus.ones(1))], lr="fast")


# The numbers are PyTorch's 2.
def test_images_are_read_at_any_places():
    F = gradus.nn.functional
    image = gradus.arange(9.0).view(1, 1, 3, 3)
    same = F.affine_grid(gradus.tensor([[[1.0, 0, 0], [0, 1, 0]]]), image.shape, align_corners=False)
    assert F.grid_sample(image, same, align_corners=False).equal(image)
    turned = F.affine_grid(gradus.tensor([[[0.0, -1, 0], [1, 0, 0]]]), (1, 1, 3, 3), align_corners=True)
    assert F.grid_sample(input=image, grid=turned, mode="nearest", align_corners=True)[0, 0].tolist() == \
        [[2, 5, 8], [1, 4, 7], [0, 3, 6]]


def test_pools_give_the_places_of_their_maxima():
    F = gradus.nn.functional
    x = gradus.arange(16.0).view(1, 1, 4, 4)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    assert places[0, 0].tolist() == [[5, 7], [13, 15]]
    assert F.max_unpool2d(values, places, 2).sum() == values.sum()
    assert F.adaptive_max_pool2d(x, 2, return_indices=True)[1].equal(places)
    assert F.fractional_max_pool2d(x, 2, output_size=2, return_indices=True)[1].shape == (1, 1, 2, 2)
    assert F.max_pool2d(x, kernel_size=2).equal(values)


POOLS = [(nn.MaxPool1d, (2,), 1), (nn.MaxPool2d, (2,), 2), (nn.MaxPool3d, (2,), 3), (nn.AdaptiveMaxPool1d, (2,), 1),
         (nn.AdaptiveMaxPool2d, (2,), 2), (nn.AdaptiveMaxPool3d, (2,), 3), (nn.FractionalMaxPool2d, (2, 2), 2),
         (nn.FractionalMaxPool3d, (2, 2), 3)]


@pytest.mark.parametrize("pool, options, dims", POOLS, ids=lambda value: getattr(value, "__name__", ""))
def test_layers_give_the_places_of_their_maxima(pool, options, dims):
    x = gradus.randn(1, 2, *[4] * dims)
    plain, layer = pool(*options), pool(*options, return_indices=True)
    assert layer.return_indices is True and plain.return_indices is False and isinstance(plain(x), gradus.Tensor)
    for each in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        values, places = each(x)
        assert places.dtype is gradus.int64 and values.equal(x.flatten(2).gather(2, places.flatten(2)).view(values.shape))
    seen = []
    handle = layer.register_forward_hook(lambda module, args, output: seen.append(output[1].shape))
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 0,))
    assert layer(x)[0].abs().sum() == 0 and seen == [places.shape]
    handle.remove()
    with pytest.raises(TypeError, match="return_indices is 'yes'; expected a bool"):
        pool(*options, return_indices="yes")


def test_a_pool_is_undone_by_its_places():
    x = gradus.arange(16.0).view(1, 1, 4, 4)
    values, places = nn.MaxPool2d(2, 2, return_indices=True)(x)
    assert nn.MaxUnpool2d(2)(values, places).equal(gradus.where((x % 2 == 1) & (x % 8 > 4), x, 0.0))
    with pytest.raises(gradus.ValueError, match="MaxPool2d"):
        nn.MaxPool2d(2, return_indices=True)(gradus.ones(2))


@pytest.mark.parametrize("layer", [nn.Hardshrink(0.7), nn.Softshrink(0.7), nn.Unflatten(1, unflattened_size=(2, 3))], ids=repr)
def test_options_that_python_calls_otherwise_are_copied(layer):
    assert repr(copy.deepcopy(layer)) == repr(pickle.loads(pickle.dumps(layer))) == repr(layer)
    x = gradus.randn(4, 6)
    assert copy.deepcopy(layer)(x).equal(layer(x))


def test_embeddings_take_the_options_of_cpp():
    F = nn.functional
    table = gradus.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert F.embedding(gradus.tensor([0]), table.clone(), max_norm=1.0).allclose(gradus.tensor([[0.6, 0.8]]))
    assert F.embedding(gradus.tensor([[0, 1]]), table).equal(table[None])
    assert F.embedding_bag(gradus.tensor([0, 1]), table, gradus.tensor([0]), mode="sum").tolist() == [[3, 5]]
    assert F.embedding_bag(input=gradus.tensor([[0, 1]]), weight=table, mode="max").tolist() == [[3, 4]]
