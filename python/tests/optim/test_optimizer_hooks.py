"""Hooks, states and groups of optimizers, and optimizers that surround others."""

import collections
import copy
import pickle

import pytest

import gradus
from gradus import nn, optim
from gradus.optim import lr_scheduler, optimizer as optimizer_module
from test_own_optimizers import Momentum, losses, weights


class Around(optim.Optimizer):
    """Has another optimizer, whose groups are its own."""

    def __init__(self, params, assigns=True, kind=optim.SGD):
        self.base = kind(params, lr=0.1)
        super().__init__(self.base.param_groups, dict(lr=0.1))
        if assigns:
            self.param_groups = self.base.param_groups

    def step(self, closure=None):
        return self.base.step(closure)


class Lookahead(optim.Optimizer):
    """Slow weights that follow those of another optimizer, as programs have it: without the base's __init__."""

    def __init__(self, base, k=2, alpha=0.5):
        self.base, self.k, self.alpha = base, k, alpha
        self.param_groups = base.param_groups
        self.state = collections.defaultdict(dict)
        self.defaults = base.defaults
        for group in self.param_groups:
            group["counter"] = 0

    def step(self, closure=None):
        loss = self.base.step(closure)
        for group in self.param_groups:
            if group["counter"] == 0:
                for fast in group["params"]:
                    slow = self.state[fast].setdefault("slow", fast.detach().clone())
                    slow += (fast.detach() - slow) * self.alpha
                    fast.data.copy_(slow)
            group["counter"] = (group["counter"] + 1) % self.k
        return loss


@pytest.mark.parametrize("kind", [optim.SGD, Momentum])
@pytest.mark.parametrize("make", [
    lambda kind: Around(weights(), True, kind), lambda kind: Around(weights(), False, kind),
    lambda kind: Lookahead(kind(weights(), lr=0.1))], ids=["assigned", "given", "lookahead"])
def test_a_schedule_of_a_wrapper_sets_the_rate_of_both(make, kind):
    wrapper = make(kind)
    schedule = lr_scheduler.ExponentialLR(wrapper, 0.5)
    wrapper.step()
    schedule.step()
    assert wrapper.param_groups[0]["lr"] == wrapper.base.param_groups[0]["lr"] == 0.05
    params = wrapper.param_groups[0]["params"]
    before = [p.detach().clone() for p in params]
    assert losses(params, wrapper, 1) == [pytest.approx(8.0)]
    assert not gradus.equal(params[0], before[0])
    wrapper.zero_grad(set_to_none=False)
    assert all(p.grad.abs().max() == 0 for p in params)
    wrapper.zero_grad()
    assert all(p.grad is None for p in params)
    copied = copy.deepcopy(wrapper)
    copied.param_groups[0]["lr"] = 3.0
    assert copied.base.param_groups[0]["lr"] == 3.0 and wrapper.param_groups[0]["lr"] == 0.05
    scaler = gradus.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale((params[0] ** 2).sum()).backward()
    expected = 2 * params[0].detach()
    scaler.unscale_(wrapper)
    assert gradus.allclose(params[0].grad, expected)
    scaler.step(wrapper)


@pytest.mark.parametrize("kind", [optim.SGD, Momentum])
def test_a_group_that_is_added_to_a_wrapper_is_that_of_both(kind):
    wrapper = Around(weights(), kind=kind)
    wrapper.add_param_group({"params": [nn.Parameter(gradus.ones(1))], "lr": 0.7})
    assert wrapper.param_groups[1]["lr"] == wrapper.base.param_groups[1]["lr"] == 0.7
    wrapper.load_state_dict(wrapper.state_dict())
    wrapper.base.param_groups = wrapper.param_groups
    assert len(wrapper.base.param_groups) == len(wrapper.state_dict()["param_groups"]) == 2


def test_lookahead_is_that_of_pytorch():
    torch = pytest.importorskip("torch")
    theirs = [torch.nn.Parameter(torch.tensor([1.0, -2.0])), torch.nn.Parameter(torch.ones(3))]

    def init(self, base):
        torch.optim.Optimizer.__init__(self, base.param_groups, {})
        Lookahead.__init__(self, base)

    reference = type("Lookahead", (torch.optim.Optimizer,), {"__init__": init, "step": vars(Lookahead)["step"].__wrapped__})
    ours = weights()
    assert losses(ours, Lookahead(optim.SGD(ours, lr=0.1)), 5) == pytest.approx(
        losses(theirs, reference(torch.optim.SGD(theirs, lr=0.1)), 5))


def test_the_groups_of_ones_own_are_dictionaries():
    a, b = weights()
    own = Momentum([a], lr=0.1)
    group = own.param_groups[0]
    assert isinstance(group, dict) and own.param_groups is own.param_groups
    group["params"].append(b)
    losses([a, b], own, 1)
    assert b in own.state and own.state_dict()["param_groups"][0]["params"] == [0, 1]
    group["params"] = [a]
    given = {"params": b, "lr": 0.5}
    own.add_param_group(given)
    assert own.param_groups[1] is given and given["params"] == [b] and given["momentum"] == 0.0
    assert own.param_groups.pop() is given and len(own.state_dict()["param_groups"]) == 1
    own.state.clear()
    assert own.state_dict()["state"] == {}
    with pytest.raises(gradus.ValueError, match="more than one parameter group"):
        own.add_param_group({"params": [a]})
    with pytest.raises(gradus.TypeError, match="params is a set"):
        own.add_param_group({"params": {b}})
    with pytest.raises(gradus.TypeError, match="param_group is of type list"):
        own.add_param_group([b])
    with pytest.raises(gradus.ValueError, match="the group has no lr"):
        Momentum([{"params": [b]}], lr=optimizer_module.required)
    with pytest.raises(gradus.ValueError, match="appear in more than one parameter group"):
        Momentum([{"params": [a]}, {"params": [a]}])


def test_groups_of_cpp_are_lists_that_say_that_they_are_fixed():
    optimizer = optim.SGD(weights(), lr=0.1)
    group = optimizer.param_groups[0]
    assert isinstance(group["params"], list) and group["params"] + [1] == [*group["params"], 1]
    assert copy.deepcopy(group["params"])[0].tolist() == [1.0, -2.0]
    for change in (lambda: group["params"].append(1), optimizer.param_groups.pop, optimizer.param_groups.clear):
        with pytest.raises(gradus.TypeError, match="add_param_group"):
            change()
    optimizer.param_groups.append({"params": [nn.Parameter(gradus.ones(1))], "lr": 0.5})
    assert optimizer.param_groups[1]["lr"] == 0.5
    groups = [{**each, "lr": 0.25} for each in optimizer.param_groups]
    optimizer.param_groups = groups
    assert [each["lr"] for each in optimizer.param_groups] == [0.25, 0.25]
    with pytest.raises(AttributeError, match="use add_param_group"):
        optimizer.param_groups = [{**each, "params": weights()} for each in groups]


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: Momentum(p, lr=0.1, momentum=0.9)])
def test_a_state_is_reset(make):
    params = weights()
    optimizer = make(params)
    for reset in (lambda: optimizer.state.clear(), lambda: setattr(optimizer, "state", collections.defaultdict(dict))):
        losses(params, optimizer, 2)
        assert len(optimizer.state) == 2
        reset()
        assert len(optimizer.state) == 0 and optimizer.state_dict()["state"] == {}
    losses(params, optimizer, 2)
    kept = copy.deepcopy(optimizer.state[params[1]])
    del optimizer.state[params[0]]
    assert list(optimizer.state) == [params[1]] and optimizer.param_groups[0]["momentum"] == 0.9
    assert all(gradus.equal(value, kept[name]) for name, value in optimizer.state[params[1]].items() if name != "step")
    assert optimizer.state.pop(params[1]) and not optimizer.state and optimizer.state[params[0]] == {}


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.1), lambda p: Momentum(p, lr=0.1)])
def test_hooks_are_called(make):
    params, seen = weights(), []
    optimizer = make(params)
    handles = [
        optimizer.register_step_pre_hook(lambda *given: seen.append(("before", given))),
        optimizer.register_step_post_hook(lambda *given: seen.append(("after", given))),
        optimizer_module.register_optimizer_step_pre_hook(lambda *given: seen.append(("all", given)))]
    optimizer.step()
    assert seen == [(name, (optimizer, (optimizer,), {})) for name in ("all", "before", "after")]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 3
    seen.clear()
    with optimizer.register_step_pre_hook(lambda self, args, kwargs: ((self, lambda: gradus.tensor(5.0)), {})):
        assert optimizer.step() == 5
    with optimizer.register_step_pre_hook(lambda self, args, kwargs: 1), pytest.raises(gradus.TypeError, match="a hook returned int"):
        optimizer.step()
    optimizer.register_state_dict_pre_hook(lambda self: seen.append("saving"))
    optimizer.register_state_dict_pre_hook(lambda self: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda self, state: {**state, "note": "more"})
    optimizer.register_load_state_dict_pre_hook(lambda self, state: seen.append(state.pop("note")))
    optimizer.register_load_state_dict_post_hook(lambda self: seen.append("loaded"))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert seen == ["first", "saving", "more", "loaded"] and state["note"] == "more"
    assert pickle.loads(pickle.dumps(optimizer)).state_dict().keys() == {"state", "param_groups"}


def test_hooks_are_called_once_in_a_derived_step():
    class Derived(optim.SGD):
        def __init__(self, params):
            super().__init__(params, lr=0.1)

        def step(self, closure=None):
            return super().step(closure)

    optimizer, seen = Derived(weights()), []
    optimizer.register_step_post_hook(lambda *given: seen.append(1))
    optimizer.step()
    assert seen == [1] and copy.deepcopy(optimizer).param_groups[0]["lr"] == 0.1


def test_named_parameters_give_names():
    net = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))
    own = Momentum(net.named_parameters(), lr=0.1)
    assert own.param_groups[0]["param_names"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert own.param_groups[0]["params"][0] is net[0].weight
    own = Momentum([{"params": net[0].named_parameters()}, {"params": list(net[1].parameters())}], lr=0.1)
    assert own.param_groups[0]["param_names"] == ["weight", "bias"] and "param_names" not in own.param_groups[1]
    assert own.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(gradus.ValueError, match="1 of 2 parameters have names"):
        Momentum([("weight", net[0].weight), net[0].bias])


@pytest.mark.parametrize("make", [lambda groups: optim.Adam(groups), lambda groups: Momentum(groups)])
def test_a_state_of_other_groups_is_refused(make):
    a, b = weights()
    state = make([{"params": [a, b]}]).state_dict()
    with pytest.raises(gradus.ValueError, match="contains a parameter group that doesn't match the size of the optimizer's group"):
        make([a]).load_state_dict(state)
    with pytest.raises(gradus.ValueError, match="has a different number of parameter groups: 1; expected 2"):
        make([{"params": [a]}, {"params": [b]}]).load_state_dict(state)


def test_a_loaded_state_has_the_type_of_its_parameter():
    params = weights()
    own = Momentum(params, lr=0.1)
    losses(params, own, 1)
    state = own.state_dict()
    half = [nn.Parameter(p.detach().to(gradus.float16)) for p in params]
    other = Momentum(half, lr=0.3)
    other.load_state_dict(state)
    assert other.state[half[0]]["buffer"].dtype == gradus.float16 and state["state"][0]["buffer"].dtype == gradus.float32
    assert other.state[half[0]]["step"] == 1 and other.param_groups[0]["lr"] == 0.1


def test_modules_have_the_names_of_pytorch():
    from gradus.optim.adam import Adam
    from gradus.optim.adamw import AdamW
    from gradus.optim.lbfgs import LBFGS
    from gradus.optim.optimizer import Optimizer, required
    from gradus.optim.sgd import SGD
    assert (Adam, AdamW, LBFGS, SGD, Optimizer) == (optim.Adam, optim.AdamW, optim.LBFGS, optim.SGD, optim.Optimizer)
    assert repr(required) == "<required parameter>"
