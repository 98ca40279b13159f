"""Modules that a program changes after it has made them: options, parameters, parts, forward(), and classes with several bases."""

import copy
import gc
import inspect
import pickle
import types
import weakref
from typing import Generic, TypeVar

import pytest

import gradus
from gradus import nn
from gradus.nn import functional as F


def test_options_of_layers_and_losses_are_read_by_the_next_call():
    x = gradus.randn(2, 4, 8, 8)
    drop = nn.Dropout(0.9)
    drop.p = 0.0
    assert drop(x).equal(x) and drop.p == 0 and "p=0.0" in repr(drop)
    conv = nn.Conv2d(4, 3, 3)
    conv.stride, conv.padding, conv.dilation = 2, (2, 2), 2
    assert conv(x).equal(F.conv2d(x, conv.weight, conv.bias, stride=2, padding=2, dilation=2))
    norm = nn.BatchNorm2d(4)
    norm.momentum, norm.eps = 1.0, 0.5
    norm(x)
    assert gradus.allclose(norm.running_mean, x.mean((0, 2, 3)), atol=1e-6)
    norm.eval()
    assert gradus.allclose(norm(x), F.batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=0.5))
    pool = nn.MaxPool2d(2)
    pool.kernel_size = pool.stride = 4
    assert pool(x).shape == (2, 4, 2, 2)
    leaky = nn.LeakyReLU()
    leaky.negative_slope = 0.5
    assert leaky(gradus.tensor([-2.0])).item() == -1
    softmax = nn.Softmax(0)
    softmax.dim = 1
    assert gradus.allclose(softmax(x).sum(1), gradus.ones(2, 8, 8))
    loss = nn.CrossEntropyLoss()
    loss.reduction = "none"
    assert loss(gradus.randn(5, 3), gradus.tensor([0, 1, 2, 0, 1])).shape == (5,)
    lstm = nn.LSTM(3, 4)
    lstm.batch_first = True
    assert lstm(gradus.ones(2, 5, 3))[1][0].shape == (1, 2, 4)
    again = pickle.loads(pickle.dumps(copy.deepcopy(conv)))
    assert again.stride == (2, 2) and again(x).equal(conv(x))
    with pytest.raises(gradus._gradus.TypeError, match="Conv2d: stride is 'wide'; expected"):
        conv.stride = "wide"
    assert conv.stride == (2, 2)


def test_a_class_of_python_may_have_a_property_of_an_options_name():
    class Scheduled(nn.Dropout):
        @property
        def p(self):
            return self._p

        @p.setter
        def p(self, value):
            self._p = 2 * value

    drop = Scheduled()
    drop.p = 0.25
    assert drop.p == 0.5


def test_the_place_of_a_deleted_weight_takes_any_tensor():
    """Handmade weight norm, fast weights of MAML, and weight drop."""
    for layer, x in ((nn.Linear(3, 2), gradus.ones(1, 3)), (nn.Conv1d(3, 2, 1), gradus.ones(1, 3, 1))):
        original = nn.Parameter(layer.weight.detach().clone())
        del layer.weight
        layer.weight_orig = original
        layer.register_forward_pre_hook(lambda module, args: setattr(module, "weight", module.weight_orig * 2))
        layer.bias = None
        layer(x).sum().backward()
        assert gradus.allclose(original.grad, gradus.full_like(original, 2.0))
        assert "bias=False" in repr(layer)
    linear = nn.Linear(3, 2, bias=False)
    fast = linear.weight * 3
    del linear._parameters["weight"]
    linear.weight = fast
    assert linear(gradus.ones(1, 3)).equal(F.linear(gradus.ones(1, 3), fast)) and not list(linear.parameters())


def test_a_bias_that_is_given_later_is_added():
    for layer, x in ((nn.Linear(2, 3, bias=False), gradus.zeros(1, 2)), (nn.Conv1d(2, 3, 1, bias=False), gradus.zeros(1, 2, 1))):
        layer.bias = nn.Parameter(gradus.full((3,), 10.0))
        assert layer(x).flatten().tolist() == [10, 10, 10] and "bias=False" not in repr(layer)
        layer._parameters["bias"] = nn.Parameter(gradus.full((3,), 4.0))
        assert layer(x).flatten().tolist() == [4, 4, 4]


def test_what_a_module_has_registered_changes_by_its_dictionaries():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model._modules["1"] = nn.Tanh()
    assert isinstance(model[1], nn.Tanh) and gradus.allclose(model(gradus.ones(1, 2)), model[0](gradus.ones(1, 2)).tanh())
    assert isinstance(model._modules.pop("1"), nn.Tanh) and len(model) == 1 and model._modules.pop("9", None) is None
    norm = nn.BatchNorm1d(2)
    norm._buffers["running_mean"] = gradus.ones(2)
    assert norm.eval()(gradus.ones(1, 2)).abs().max().item() == 0
    norm._parameters.update(weight=nn.Parameter(gradus.zeros(2)))
    assert norm(gradus.randn(3, 2)).abs().max().item() == 0
    model._modules.clear()
    assert len(model) == 0


def test_parts_that_are_no_modules_are_errors():
    wrong = gradus._gradus.TypeError
    for make in (lambda: nn.Sequential([nn.Linear(1, 5)]), lambda: nn.ModuleList([1]), lambda: nn.ModuleDict({"a": 3}),
                 lambda: nn.Module().add_module("q", 3)):
        with pytest.raises(wrong, match="add_module: .* is of type .*; expected an nn.Module"):
            make()
    with pytest.raises(wrong, match=r"add_module: 1 is the class ReLU; write ReLU\(\)"):
        nn.Sequential(nn.Linear(1, 5), nn.ReLU)


def test_names_of_a_module_keep_their_kind():
    model = nn.Module()
    model.part, model.weight = nn.Linear(1, 1), nn.Parameter(gradus.ones(1))
    model.register_buffer("seen", gradus.ones(1))
    for name, kind in (("part", "submodule"), ("weight", "parameter"), ("seen", "buffer")):
        with pytest.raises(gradus._gradus.TypeError, match=f"value of type int to {name}, which is a {kind}"):
            setattr(model, name, 3)
    model.part = model.weight = None
    assert model.part is None and model.weight is None and list(model.state_dict()) == ["seen"] and "part" not in repr(model)


def test_an_object_may_have_a_forward_of_its_own():
    linear, x = nn.Linear(2, 2), gradus.ones(1, 2)
    before, seen = linear.forward, []
    linear.register_forward_hook(lambda module, args, output: seen.append(output))
    linear.forward = lambda x: before(x) * 2
    assert linear(x).equal(before(x) * 2) and len(seen) == 1 and seen[0].equal(before(x) * 2)
    linear.forward = types.MethodType(lambda self, x: self.bias, linear)
    assert linear(x) is linear.bias
    del linear.forward
    assert linear(x).equal(before(x))


def test_hooks_of_layers_see_and_give_what_is_no_tensor():
    seen = []
    for layer, x in ((nn.LSTM(3, 4), gradus.ones(2, 1, 3)), (nn.GRU(3, 4), gradus.ones(2, 1, 3)), (nn.LSTMCell(3, 4), gradus.ones(1, 3))):
        handle = layer.register_forward_hook(lambda module, args, output: seen.append(output))
        out = layer(x)
        assert type(seen[-1]) is type(out) is tuple or seen[-1] is out
        handle.remove()
        layer.register_forward_pre_hook(lambda module, args: None)
        layer.register_full_backward_hook(lambda module, grads_in, grads_out: seen.append("backward"))
        out = layer(x.requires_grad_())
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        assert seen[-1] == "backward"
    linear = nn.Linear(2, 2)
    linear.register_forward_hook(lambda module, args, output: {"out": output})
    assert list(linear(gradus.ones(1, 2))) == ["out"]
    assert linear.forward(gradus.ones(1, 2)).shape == (1, 2)  # without its hooks


def test_gradients_of_other_outputs_pass_a_backward_hook():
    class Named(nn.Module):
        def forward(self, x):
            return {"a": x * 2}

    model, x = Named(), gradus.ones(1, requires_grad=True)
    model.register_full_backward_hook(lambda *args: None)
    model(x)["a"].backward()
    assert x.grad.item() == 2


def test_the_mode_of_one_module_may_be_set():
    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.head = nn.BatchNorm1d(2), nn.Sequential(nn.Linear(2, 2))

        def train(self, mode=True):
            self.training = mode
            self.head.train(mode)
            return self

    model = Frozen()
    model.norm.eval()
    model.training = False
    assert [module.training for module in model.modules()] == [False, False, True, True]
    model.train()
    assert [module.training for module in model.modules()] == [True, False, True, True]


def test_constructors_call_the_reset_of_the_class():
    class Sevens(nn.Embedding):
        def reset_parameters(self):
            with gradus.no_grad():
                self.weight.fill_(7.0)

    assert Sevens(2, 2).weight.flatten().tolist() == [7] * 4


class Named:
    def name(self):
        return type(self).__name__


T = TypeVar("T")


class First(nn.Module, Named):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)

    def forward(self, x):
        return self.fc(x)


class Counted:
    count = 0

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.count = 1


class Last(Counted, First, Generic[T]):
    pass


class Layer(nn.Linear, Named):
    pass


class Left(First):
    def forward(self, x):
        return super().forward(x) * 2


class Right(First):
    pass


class Both(Left, Right):
    pass


@pytest.mark.parametrize("cls, make", [(First, First), (Last, Last), (Layer, lambda: Layer(2, 3)), (Both, Both)])
def test_classes_have_several_bases(cls, make):
    model, x = make(), gradus.ones(1, 2)
    assert model.name() == cls.__name__ and isinstance(model, Named) and model(x).shape == (1, 3)
    assert len(list(model.parameters())) == 2
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(again) is cls and again(x).equal(model(x))
    assert getattr(model, "count", 1) == 1
    model.loop = model
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_optimizers_and_tensors_have_several_bases():
    class Logged(gradus.optim.SGD, Named):
        pass

    weight = nn.Parameter(gradus.ones(1))
    sgd = Logged([weight], lr=0.5)
    weight.grad = gradus.ones(1)
    sgd.step()
    assert weight.item() == 0.5 and sgd.name() == "Logged"
    with pytest.raises(TypeError):
        type("Two", (nn.Linear, nn.Conv2d), {})


def test_classes_have_signatures():
    fused = inspect.signature(gradus.optim.AdamW).parameters["fused"]  # as nanoGPT asks for it
    assert fused.default is None and fused.kind is fused.KEYWORD_ONLY
    assert list(inspect.signature(nn.Linear).parameters)[:3] == ["in_features", "out_features", "bias"]
    assert "step_size" in inspect.signature(gradus.optim.lr_scheduler.StepLR).parameters
    assert str(inspect.signature(First)) == "()" and "in_features" in str(inspect.signature(Layer))
    with pytest.raises(AttributeError):
        nn.Linear(1, 1).__signature__


def test_names_are_listed():
    assert {"weight", "bias", "in_features", "forward"} <= set(dir(nn.Linear(1, 1)))
    assert {"0", "append"} <= set(dir(nn.Sequential(nn.ReLU())))


def test_state_dict_takes_a_destination():
    out = {"kept": 1}
    assert nn.Linear(1, 1).state_dict(out, "fc.") is out and list(out) == ["kept", "fc.weight", "fc.bias"]


def test_gradients_of_what_can_be_iterated_over():
    model = nn.Linear(2, 1)
    loss = model(gradus.ones(1, 2)).sum()
    grads = gradus.autograd.grad(loss, model.parameters(), create_graph=True)
    assert [tuple(g.shape) for g in grads] == [(1, 2), (1,)]
    loss = model(gradus.ones(1, 2)).sum()
    assert len(gradus.autograd.grad(loss, dict(model.named_parameters()).values())) == 2


def test_a_buffer_that_becomes_an_attribute_is_registered():
    model = nn.Module()
    model.seen, model.shown = nn.Buffer(gradus.ones(2)), nn.Buffer(gradus.zeros(1), persistent=False)
    assert list(model.state_dict()) == ["seen"] and [name for name, _ in model.named_buffers()] == ["seen", "shown"]
    assert not list(model.parameters()) and model.double().seen.dtype == gradus.float64
    model.seen = gradus.zeros(2)
    assert list(model.state_dict()["seen"]) == [0, 0]
    assert copy.deepcopy(model).seen.equal(model.seen)
