"""Optimizers and schedules that a program writes itself, and groups with options of its own."""

import copy
import gc
import pickle
import weakref

import pytest

import gradus
from gradus import nn, optim
from gradus.optim import lr_scheduler


class Momentum(optim.Optimizer):
    """SGD with momentum, as a student writes it."""

    def __init__(self, params, lr=0.1, momentum=0.0, betas=(0.9, 0.99)):
        super().__init__(params, dict(lr=lr, momentum=momentum, betas=betas))

    @gradus.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with gradus.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"], state["buffer"] = 0, gradus.zeros_like(p)
                state["step"] += 1
                state["buffer"].mul_(group["momentum"]).add_(p.grad)
                p.add_(state["buffer"], alpha=-group["lr"])
        return loss


class Ascending(optim.Optimizer):
    """Steps up first, and leaves the step down to another optimizer, whose groups are its own."""

    def __init__(self, params, base, rho=0.05, **options):
        super().__init__(params, dict(rho=rho, **options))
        self.base = base(self.param_groups, **options)
        self.param_groups = self.base.param_groups

    @gradus.no_grad()
    def step(self, closure):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["before"] = p.data.clone()
                p.add_(p.grad * group["rho"])
        self.zero_grad()
        with gradus.enable_grad():
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["before"]
        self.base.step()
        return loss


class Warmup(lr_scheduler.LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [rate * min(1.0, (self.last_epoch + 1) / self.steps) for rate in self.base_lrs]


def weights():
    return [nn.Parameter(gradus.tensor([1.0, -2.0])), nn.Parameter(gradus.ones(3))]


def losses(params, optimizer, steps=4):
    out = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = sum((p ** 2).sum() for p in params)
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


def test_a_step_of_python_is_that_of_cpp():
    a, b = weights(), weights()
    own = Momentum([{"params": a[:1]}, {"params": a[1:], "lr": 0.02}], lr=0.05, momentum=0.9)
    theirs = optim.SGD([{"params": b[:1]}, {"params": b[1:], "lr": 0.02}], lr=0.05, momentum=0.9)
    assert losses(a, own) == pytest.approx(losses(b, theirs)) and isinstance(own, optim.Optimizer)
    assert own.defaults["momentum"] == 0.9 and own.param_groups[1]["betas"] == (0.9, 0.99)
    assert repr(own).splitlines()[:4] == ["Momentum (", "Parameter Group 0", "    betas: (0.9, 0.99)", "    lr: 0.05"]
    own.param_groups[0]["lr"] = own.param_groups[1]["lr"] = 0.0
    own.param_groups[0]["momentum"] = own.param_groups[1]["momentum"] = 0.5
    before = [p.clone() for p in a]
    assert own.step(lambda: gradus.tensor(3.0)) == 3
    assert all(gradus.equal(p, q) for p, q in zip(a, before))
    own.add_param_group({"params": [nn.Parameter(gradus.ones(1))], "lr": 1.0})
    assert own.param_groups[2]["lr"] == 1 and own.param_groups[2]["momentum"] == 0.9


def test_its_state_goes_on_from_a_checkpoint(tmp_path):
    params, others = weights(), weights()
    own = Momentum(params, lr=0.05, momentum=0.9)
    losses(params, own)
    gradus.save({"own": own.state_dict()}, tmp_path / "own.pt")
    state = gradus.load(tmp_path / "own.pt")["own"]
    assert sorted(state["state"]) == [0, 1] and state["state"][0]["step"] == 4
    fresh = Momentum(others, lr=7.0)
    fresh.load_state_dict(state)
    with gradus.no_grad():
        for p, q in zip(others, params):
            p.copy_(q)
    copied_params, copied = copy.deepcopy((params, own))
    expected = losses(params, own)
    assert losses(others, fresh) == expected and losses(copied_params, copied) == expected
    assert pickle.loads(pickle.dumps(own)).param_groups[0]["momentum"] == 0.9
    with pytest.raises(gradus.ValueError, match=r"groups have \[2\] parameters; expected \[1\]"):
        Momentum(weights()[:1]).load_state_dict(state)


def test_an_optimizer_takes_the_groups_of_another():
    a, b = weights(), weights()
    own, theirs = Ascending(a, optim.SGD, rho=0.0, lr=0.05, momentum=0.9), optim.SGD(b, lr=0.05, momentum=0.9)

    def closure(params):
        loss = sum((p ** 2).sum() for p in params)
        loss.backward()
        return loss

    for _ in range(3):
        own.zero_grad(), closure(a), own.step(lambda: closure(a))
        theirs.zero_grad(), closure(b), theirs.step()
    assert all(gradus.allclose(p, q) for p, q in zip(a, b)) and own.param_groups[0]["rho"] == 0
    with pytest.raises(AttributeError, match="those of C"):
        theirs.param_groups = []


def test_what_takes_an_optimizer_takes_ones_own():
    own = Momentum(weights(), lr=1.0)
    schedule = lr_scheduler.ExponentialLR(own, 0.5)
    own.step()
    schedule.step()
    assert own.param_groups[0]["lr"] == 0.5 and own.param_groups[0]["initial_lr"] == 1
    scaler = gradus.amp.GradScaler("cpu", init_scale=4.0)
    params = own.param_groups[0]["params"]
    before = params[0].clone()
    scaler.scale(sum((p ** 2).sum() for p in params)).backward()
    scaler.step(own)
    scaler.update()
    assert gradus.allclose(params[0], before - 0.5 * 2 * before)
    params[0].grad.fill_(float("inf"))
    kept = params[0].clone()
    scaler.unscale_(own)
    scaler.step(own)
    assert gradus.equal(params[0], kept)


def test_a_class_without_a_step_says_so():
    class Idle(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

    with pytest.raises(gradus.NotImplementedError, match=r"Idle has no step\(\)"):
        Idle(weights()).step()
    with pytest.raises(gradus.ValueError, match="empty parameter list"):
        Idle([])


def test_an_optimizer_of_python_is_collected():
    own = Momentum(weights())
    losses(own.param_groups[0]["params"], own)
    own.itself = own
    seen = weakref.ref(own)
    del own
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("make", [lambda groups: optim.Adam(groups, lr=0.1), lambda groups: Momentum(groups, lr=0.1)])
def test_a_group_keeps_options_of_the_program(make):
    a, b = weights()
    optimizer = make([{"params": [a], "name": "head", "lr_scale": 0.5}, {"params": [b], "lr": 0.3}])
    first, second = optimizer.param_groups
    assert first["name"] == "head" and first["lr_scale"] == 0.5 and first["lr"] == 0.1 and "name" not in second
    second["note"] = ("any", 1)
    assert optimizer.param_groups[1]["note"] == ("any", 1) and second.setdefault("note", 2) == ("any", 1)
    assert first.get("name") == "head" and "lr_scale" in first.keys()
    optimizer.add_param_group({"params": [nn.Parameter(gradus.ones(1))], "name": "late"})
    assert optimizer.param_groups[2]["name"] == "late"
    state = optimizer.state_dict()
    assert state["param_groups"][0]["name"] == "head"
    first["name"] = "other"
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["name"] == "head" and optimizer.param_groups[0]["lr"] == 0.1


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, lr=0.8), lambda p: Momentum(p, lr=0.8)])
def test_a_schedule_of_python_sets_the_rate(make):
    optimizer = make(weights())
    schedule, rates = Warmup(optimizer, 4), []
    for _ in range(5):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8]) and schedule.get_last_lr() == [0.8] and schedule.last_epoch == 5
    other = Warmup(make(weights()), 9)
    other.load_state_dict(schedule.state_dict())
    assert other.steps == 4 and other.last_epoch == 5 and "optimizer" not in schedule.state_dict()
    assert isinstance(schedule, lr_scheduler._LRScheduler)
    assert isinstance(lr_scheduler.StepLR(optimizer, 1), lr_scheduler.LRScheduler) and not isinstance(optimizer, Warmup)
    assert not isinstance(lr_scheduler.StepLR(optimizer, 1), Warmup)
    with pytest.raises(NotImplementedError, match=r"LRScheduler: a schedule needs get_lr\(\)"):
        lr_scheduler.LRScheduler(optimizer)


SCHEDULES = [
    lambda o, *last: lr_scheduler.LambdaLR(o, lambda epoch: 0.9 ** epoch, *last),
    lambda o, *last: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.9, *last),
    lambda o, *last: lr_scheduler.StepLR(o, 2, 0.5, *last),
    lambda o, *last: lr_scheduler.MultiStepLR(o, [2, 4], 0.5, *last),
    lambda o, *last: lr_scheduler.ConstantLR(o, 0.5, 3, *last),
    lambda o, *last: lr_scheduler.LinearLR(o, 0.1, 1.0, 4, *last),
    lambda o, *last: lr_scheduler.ExponentialLR(o, 0.9, *last),
    lambda o, *last: lr_scheduler.PolynomialLR(o, 5, 2.0, *last),
    lambda o, *last: lr_scheduler.CosineAnnealingLR(o, 5, 0.1, *last),
    lambda o, *last: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, 2, 0.1, *last),
    lambda o, last=-1: lr_scheduler.OneCycleLR(o, 1.0, 9, last_epoch=last),
    lambda o, last=-1: lr_scheduler.CyclicLR(o, 0.1, 1.0, 2, last_epoch=last),
    lambda o, *last: Warmup(o, 4, *last),
]


@pytest.mark.parametrize("make", SCHEDULES)
def test_a_schedule_goes_on_behind_a_step(make, tmp_path):
    def rates(optimizer, schedule, steps):
        out = []
        for _ in range(steps):
            optimizer.step()
            schedule.step()
            out.append(optimizer.param_groups[0]["lr"])
        return out

    first = optim.SGD(weights(), lr=0.8, momentum=0.9)
    schedule = make(first)
    rates(first, schedule, 3)
    gradus.save(first.state_dict(), tmp_path / "optimizer.pt")
    second = optim.SGD(weights(), lr=5.0, momentum=0.9)
    second.load_state_dict(gradus.load(tmp_path / "optimizer.pt"))
    assert second.param_groups[0]["initial_lr"] == first.param_groups[0]["initial_lr"]
    again = make(second, 2)
    assert again.last_epoch == 3 and second.param_groups[0]["lr"] == pytest.approx(first.param_groups[0]["lr"])
    assert rates(second, again, 4) == pytest.approx(rates(first, schedule, 4))
    again.step(2), schedule.step(2)
    assert again.get_last_lr() == pytest.approx(schedule.get_last_lr()) and again.last_epoch == 2


def test_warm_restarts_step_between_two_steps():
    optimizer = optim.SGD(weights(), lr=1.0)
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2, eta_min=0.2)
    rates = []
    for epoch in (0.5, 1.0, 1.5, 2.0, 3.5, 6.25):
        schedule.step(epoch)
        rates.append(optimizer.param_groups[0]["lr"])
    # The rates of PyTorch.
    assert rates == pytest.approx([0.8828427125, 0.6, 0.3171572875, 1.0, 0.7530733730, 0.9980738907]) and schedule.last_epoch == 6
