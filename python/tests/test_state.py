"""Copies and files of tensors, modules and optimizers, and states of other libraries."""

import copy
import pickle

import numpy as np
import pytest

import gradus
from gradus import nn

try:
    import torch
except ImportError:
    torch = None
try:
    import safetensors.numpy as safetensors
except ImportError:
    safetensors = None

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy,
          "pickle": lambda x: pickle.loads(pickle.dumps(x))}
OPTIMIZERS = {
    "SGD": lambda p: gradus.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: gradus.optim.Adam(p, lr=0.1, betas=(0.8, 0.9)),
    "AdamW": lambda p: gradus.optim.AdamW(p, lr=0.1, weight_decay=0.1),
    "Adagrad": lambda p: gradus.optim.Adagrad(p, lr=0.1),
    "RMSprop": lambda p: gradus.optim.RMSprop(p, lr=0.1, momentum=0.5),
    "Lion": lambda p: gradus.optim.Lion(p, lr=0.1),
    "Adadelta": lambda p: gradus.optim.Adadelta(p, rho=0.8),
    "Adamax": lambda p: gradus.optim.Adamax(p, lr=0.1, maximize=True),
    "NAdam": lambda p: gradus.optim.NAdam(p, lr=0.1, momentum_decay=0.01),
    "RAdam": lambda p: gradus.optim.RAdam(p, lr=0.1, decoupled_weight_decay=True, weight_decay=0.1),
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(gradus.rand(2))
        self.register_buffer("shift", gradus.rand(2))
        self.note = ["plain"]

    def forward(self, x):
        return self.layers(x) * self.scale + self.shift


def train(net, optimizer, steps=2):
    x = gradus.linspace(0, 1, 6).view(2, 3)
    for _ in range(steps):
        optimizer.zero_grad()
        net(x).pow(2).sum().backward()
        optimizer.step()
    return net(x).tolist()


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32",
                                   "float64", "complex64"])
def test_copies_of_tensors(how, dtype):
    base = gradus.arange(6).reshape(2, 3).to(getattr(gradus, dtype))
    for x in (base, base.T, base[1:], base[:0], base[0, 1]):
        y = COPIES[how](x)
        assert y is not x and y.dtype is x.dtype and y.tolist() == x.tolist()
        assert (y.data_ptr() == x.data_ptr()) == (how == "copy") or not x.numel()
    leaf = gradus.ones(2, requires_grad=True)
    assert COPIES[how](leaf).requires_grad and COPIES[how](leaf).is_leaf
    parameter = nn.Parameter(gradus.ones(2))
    assert how == "copy" or type(COPIES[how](parameter)) is nn.Parameter


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_copies_of_modules(how):
    net = Net()
    net.layers[0].weight.requires_grad_(False)
    net.eval()
    other = COPIES[how](net)
    x = gradus.rand(5, 3)
    assert other(x).tolist() == net(x).tolist() and other.note == ["plain"]
    assert list(other.state_dict()) == list(net.state_dict()) and not other.training
    assert [p.requires_grad for p in other.parameters()] == [p.requires_grad for p in net.parameters()]
    assert all(p is not q and p.data_ptr() != q.data_ptr()
               for p, q in zip(other.parameters(), net.parameters()))
    other.scale.data.fill_(0)
    assert net.scale.abs().sum() > 0


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_copies_of_optimizers_train_on(how, name):
    net = Net()
    optimizer = OPTIMIZERS[name](net.parameters())
    train(net, optimizer)
    other_net, other = COPIES[how]((net, optimizer))
    assert type(other) is type(optimizer)
    assert other.param_groups[0]["params"][0] is next(other_net.parameters())
    assert train(other_net, other) == train(net, optimizer)


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
@pytest.mark.parametrize("make", [lambda: nn.LSTM(3, 4, 2), lambda: nn.MultiheadAttention(4, 2),
                                  lambda: nn.TransformerEncoderLayer(4, 2, 8),
                                  lambda: nn.BatchNorm1d(3), lambda: nn.Linear(3, 2, bias=False)])
def test_copies_of_layers_of_cpp(how, make):
    layer = make()
    for p in layer.parameters():
        p.data.uniform_(-1, 1)
    other = COPIES[how](layer)
    assert type(other) is type(layer)
    for (name, p), (other_name, q) in zip(layer.state_dict().items(), other.state_dict().items()):
        assert name == other_name and gradus.equal(p, q) and p.data_ptr() != q.data_ptr()


def test_a_shared_tensor_is_shared_in_a_copy():
    net = Net()
    net.twin = net.layers[0]
    net.tied = net.scale
    for how in ("deepcopy", "pickle"):
        other = COPIES[how](net)
        assert other.twin is other.layers[0] and other.tied is other.scale


@pytest.mark.skipif(safetensors is None, reason="the package safetensors cannot be imported")
def test_safetensors_files_of_both_sides(tmp_path):
    tensors = {"a": gradus.rand(2, 3), "b.c": gradus.arange(4), "half": gradus.rand(3).half(),
               "empty": gradus.zeros(0, 2), "one": gradus.tensor(2.5)}
    gradus.save(tensors, tmp_path / "ours")
    theirs = safetensors.load_file(tmp_path / "ours")
    assert {k: v.tolist() for k, v in theirs.items()} == {k: v.tolist() for k, v in tensors.items()}
    safetensors.save_file({k: np.array(v, order="C") for k, v in theirs.items()}, tmp_path / "theirs")
    back = gradus.load(tmp_path / "theirs")
    assert {k: v.tolist() for k, v in back.items()} == {k: v.tolist() for k, v in tensors.items()}
    assert all(back[k].dtype is tensors[k].dtype for k in tensors)


def build(lib):
    n = lib.nn
    return {
        "perceptron": (n.Sequential(n.Linear(6, 5), n.ReLU(), n.Linear(5, 3)), (4, 6)),
        "convolution": (n.Sequential(n.Conv2d(2, 4, 3, padding=1), n.BatchNorm2d(4), n.ReLU(),
                                     n.MaxPool2d(2), n.Flatten(), n.Linear(64, 3)), (2, 2, 8, 8)),
        "attention": (n.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True), (2, 5, 8)),
        "recurrence": (n.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True), (2, 5, 3)),
        "norms": (n.Sequential(n.LayerNorm(6), n.Linear(6, 4), n.GroupNorm(2, 4)), (3, 6)),
    }


@pytest.mark.skipif(torch is None, reason="PyTorch cannot be imported")
@pytest.mark.parametrize("name", ["perceptron", "convolution", "attention", "recurrence", "norms"])
def test_a_state_of_pytorch_loads_by_name(name):
    torch.manual_seed(1)
    (theirs, shape), (ours, _) = build(torch)[name], build(gradus)[name]
    theirs.eval(), ours.eval()
    state = {key: gradus.from_dlpack(value) for key, value in theirs.state_dict().items()}
    assert set(state) == set(ours.state_dict())
    ours.load_state_dict(state)
    x = torch.rand(shape)
    first = lambda out: out[0] if isinstance(out, tuple) else out
    expected = torch.as_tensor(first(theirs(x))).detach()
    found = first(ours(gradus.from_dlpack(x))).detach()
    assert np.abs(np.array(expected.tolist()) - np.array(found.tolist())).max() < 1e-5
