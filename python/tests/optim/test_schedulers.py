"""Schedules of learning rates: their rates, attributes and states are PyTorch's, also when a run is resumed."""

import copy
import pickle
import warnings

import pytest

import gradus
from gradus import nn, optim
from gradus.optim import lr_scheduler, swa_utils


def halved(step):
    return 0.5 ** step


def nine_tenths(step):
    return 0.9


SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 4, 4], 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, nine_tenths),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, "min", 0.5, 1, cooldown=1),
    "LambdaLR": lambda s, o: s.LambdaLR(o, halved),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.25, total_iters=6),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 5),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, total_iters=3), s.StepLR(o, 2, 0.5), s.LambdaLR(o, halved)],
                                                [3, 6]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 5), s.ExponentialLR(o, 0.9)]),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, 12),
    "OneCycleLR of three phases": lambda s, o: s.OneCycleLR(o, [1.0, 0.5], epochs=3, steps_per_epoch=4, three_phase=True,
                                                            anneal_strategy="linear"),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 2, 3, mode="triangular2"),
    "CyclicLR of a function": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 2, scale_fn=halved, scale_mode="iterations"),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
}
KEEP_THE_RATE = ["StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "PolynomialLR", "MultiplicativeLR",
                 "ReduceLROnPlateau"]
METRICS = [1.0, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9, 0.7, 0.9, 0.9, 0.9]


def sgd():
    a, b = nn.Parameter(gradus.ones(1)), nn.Parameter(gradus.ones(2))
    return optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.3}], lr=0.8, momentum=0.9)


def torch_sgd(torch):
    a, b = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(2))
    return torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.3}], lr=0.8, momentum=0.9)


def run(optimizer, schedule, steps):
    """The rates and momentums after each of these steps."""
    out = []
    for number in steps:
        optimizer.step()
        schedule.step(*([METRICS[number]] if type(schedule).__name__ == "ReduceLROnPlateau" else []))
        out += [group[key] for group in optimizer.param_groups for key in ("lr", "momentum")]
        assert schedule.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
    return out


def resumed(make, fresh, module, made_after):
    """The rates of a run that is saved after 4 steps, and of what goes on from there with new objects."""
    optimizer = fresh()
    schedule = make(module, optimizer)
    rates = run(optimizer, schedule, range(4))
    states = copy.deepcopy((optimizer.state_dict(), schedule.state_dict()))
    optimizer = fresh()
    if made_after:
        optimizer.load_state_dict(states[0])
        schedule = make(module, optimizer)
    else:
        schedule = make(module, optimizer)
        optimizer.load_state_dict(states[0])
    schedule.load_state_dict(states[1])
    assert schedule.get_last_lr() == states[1]["_last_lr"]
    return rates + run(optimizer, schedule, range(4, 11))


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_those_of_pytorch_and_of_a_resumed_run(name):
    torch = pytest.importorskip("torch")
    make, optimizer, theirs = SCHEDULES[name], sgd(), torch_sgd(torch)
    whole = run(optimizer, make(lr_scheduler, optimizer), range(11))
    assert whole == pytest.approx(run(theirs, make(torch.optim.lr_scheduler, theirs), range(11)))
    assert resumed(make, sgd, lr_scheduler, False) == pytest.approx(whole)
    after = resumed(make, sgd, lr_scheduler, True)
    assert after == pytest.approx(resumed(make, lambda: torch_sgd(torch), torch.optim.lr_scheduler, True))
    assert name not in KEEP_THE_RATE or after == pytest.approx(whole)


@pytest.mark.parametrize("name", KEEP_THE_RATE)
def test_a_schedule_that_is_made_after_loading_keeps_the_rate(name):
    first = sgd()
    schedule = SCHEDULES[name](lr_scheduler, first)
    whole = run(first, schedule, range(4))
    second = sgd()
    second.load_state_dict(first.state_dict())
    again = SCHEDULES[name](lr_scheduler, second)
    assert [group["lr"] for group in second.param_groups] == whole[-4::2]
    again.load_state_dict(schedule.state_dict())
    assert run(second, again, range(4, 11)) == run(first, schedule, range(4, 11))


def plain(value):
    """A value without objects of torch or of Gradus."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("name", SCHEDULES)
def test_attributes_and_states_are_those_of_pytorch(name):
    torch = pytest.importorskip("torch")
    ours, theirs = sgd(), torch_sgd(torch)
    mine, its = SCHEDULES[name](lr_scheduler, ours), SCHEDULES[name](torch.optim.lr_scheduler, theirs)
    run(ours, mine, range(3)), run(theirs, its, range(3))
    state, expected = plain(mine.state_dict()), plain(its.state_dict())

    def check(state, expected):
        assert set(expected) <= set(state)
        for key, value in expected.items():
            if key == "_schedulers":
                for one, other in zip(state[key], value, strict=True):
                    check(one, other)
            elif key == "_schedule_phases":
                assert [pytest.approx(phase) for phase in value] == state[key]
            else:
                assert state[key] == (value if value is None else pytest.approx(value)), key

    check(state, expected)
    assert isinstance(mine, lr_scheduler.LRScheduler) and isinstance(mine, lr_scheduler._LRScheduler)
    assert mine.optimizer is ours
    for attribute in ("base_lrs", "last_epoch", "_step_count"):
        assert getattr(mine, attribute, None) == getattr(its, attribute, None)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_copy_goes_on_by_itself(name, copied):
    optimizer = sgd()
    schedule = SCHEDULES[name](lr_scheduler, optimizer)
    run(optimizer, schedule, range(3))
    other = copied(schedule)
    assert other.optimizer is not optimizer and other.state_dict() == schedule.state_dict()
    before = [group["lr"] for group in optimizer.param_groups]
    rates = run(other.optimizer, other, range(3, 9))
    assert [group["lr"] for group in optimizer.param_groups] == before
    assert run(optimizer, schedule, range(3, 9)) == rates


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_state_is_saved(name, tmp_path):
    optimizer = sgd()
    schedule = SCHEDULES[name](lr_scheduler, optimizer)
    run(optimizer, schedule, range(4))
    gradus.save({"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, tmp_path / "run.pt")
    found, other = gradus.load(tmp_path / "run.pt"), sgd()
    again = SCHEDULES[name](lr_scheduler, other)
    other.load_state_dict(found["optimizer"])
    again.load_state_dict(found["schedule"])
    assert run(other, again, range(4, 9)) == run(optimizer, schedule, range(4, 9))


def test_swa_rates_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    for strategy, epochs in (("cos", 4), ("linear", 3), ("linear", 0)):
        ours, theirs = sgd(), torch_sgd(torch)
        mine = swa_utils.SWALR(ours, [0.05, 0.01], epochs, strategy)
        its = torch.optim.swa_utils.SWALR(theirs, [0.05, 0.01], epochs, strategy)
        assert run(ours, mine, range(6)) == pytest.approx(run(theirs, its, range(6)))
        assert mine.last_epoch == its.last_epoch == 6 and mine.anneal_epochs == epochs
        fresh = sgd()
        again = swa_utils.SWALR(fresh, 0.5)
        again.load_state_dict(mine.state_dict())
        assert again.state_dict() == mine.state_dict() and set(its.state_dict()) == set(mine.state_dict())
    assert isinstance(mine, lr_scheduler.LRScheduler)
    with pytest.raises(ValueError, match="anneal_strategy round is unknown"):
        swa_utils.SWALR(ours, 0.1, anneal_strategy="round")


def test_get_lr_of_a_derived_class_is_asked():
    class Doubled(lr_scheduler.StepLR):
        def get_lr(self):
            return [2 * rate for rate in self.base_lrs] if self.last_epoch else super().get_lr()

    optimizer = sgd()
    schedule = Doubled(optimizer, step_size=2)
    assert run(optimizer, schedule, range(1))[::2] == [1.6, 0.6] and schedule.step_size == 2 and schedule.gamma == 0.1
    with pytest.warns(UserWarning, match="get_last_lr"):
        lr_scheduler.StepLR(optimizer, 2).get_lr()


def test_a_rate_that_a_program_sets_is_gone_on_from():
    optimizer = sgd()
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.param_groups[0]["lr"] = 4.0
    assert run(optimizer, schedule, range(2)) == [2.0, 0.9, 0.15, 0.9, 1.0, 0.9, 0.075, 0.9]


def test_a_step_before_that_of_the_optimizer_warns():
    optimizer = sgd()
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    with pytest.warns(UserWarning, match=r"lr_scheduler.step\(\)` before `optimizer.step"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
        scaled = sgd()
        schedule = lr_scheduler.ExponentialLR(scaled, 0.5)
        scaler = gradus.amp.GradScaler("cpu")
        scaler.scale(scaled.param_groups[0]["params"][0].sum()).backward()
        scaler.step(scaled)  # a step that C++ takes
        schedule.step()


def test_one_cycle_has_an_end():
    optimizer = sgd()
    schedule = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=3)
    run(optimizer, schedule, range(3))
    with pytest.raises(ValueError, match="tried to step 4 times; expected at most total_steps, 3"):
        run(optimizer, schedule, range(1))


def test_a_plateau_says_where_it_is():
    optimizer = sgd()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1, min_lr=[0.1, 0.2], threshold_mode="abs")
    for metric in (1.0, 2.0, gradus.tensor(1.5), 1.5):
        optimizer.step()
        schedule.step(metric)
    assert schedule.get_last_lr() == [0.4, 0.2] and schedule.best == 2.0 and schedule.num_bad_epochs == 0
    assert (schedule.factor, schedule.patience, schedule.mode, schedule.last_epoch) == (0.5, 1, "max", 4)
    optimizer.add_param_group({"params": [nn.Parameter(gradus.ones(1))]})
    schedule.step(0.0)
    with pytest.raises(gradus.ValueError, match="min_lrs has 2 values; expected 3"):
        schedule.step(0.0)


def test_schedules_consist_of_others():
    optimizer = sgd()
    inner = lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.5, 2), lr_scheduler.ExponentialLR(optimizer, 0.5)])
    whole = lr_scheduler.SequentialLR(optimizer, [lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2), inner], [2])
    assert optimizer.param_groups[0]["lr"] == 0.4 and whole._schedulers[1] is inner
    assert run(optimizer, whole, range(5))[::4] == pytest.approx([0.6, 0.4, 0.2, 0.2, 0.1])
    with pytest.raises(gradus.ValueError, match="2 schedules have 2 milestones; expected 1"):
        lr_scheduler.SequentialLR(optimizer, [inner, inner], [1, 2])
    with pytest.raises(gradus.ValueError, match="of another optimizer"):
        lr_scheduler.ChainedScheduler([inner, lr_scheduler.StepLR(sgd(), 1)])
    with pytest.raises(gradus.ValueError, match="is a ReduceLROnPlateau"):
        lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(optimizer)])
    with pytest.raises(gradus.ValueError, match="the state has 0 schedules; expected 2"):
        whole.load_state_dict({"last_epoch": 3})


@pytest.mark.parametrize("mistake, error, text", [
    (lambda s, o: s.StepLR(nn.Linear(1, 1), 2), gradus.TypeError, "StepLR: optimizer is of type Linear"),
    (lambda s, o: s.StepLR(o, 2, last_epoch=4), KeyError, "has no initial_lr"),
    (lambda s, o: s.LambdaLR(o, [halved]), gradus.ValueError, "lr_lambda has 1 values; expected 2"),
    (lambda s, o: s.MultiplicativeLR(o, 0.5), gradus.TypeError, "expected a function"),
    (lambda s, o: s.LinearLR(o, 0.0), gradus.ValueError, "start_factor is 0.0"),
    (lambda s, o: s.ConstantLR(o, 2.0), gradus.ValueError, "factor is 2.0"),
    (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), gradus.ValueError, "T_0 is 0"),
    (lambda s, o: s.ReduceLROnPlateau(o, factor=1.5), gradus.ValueError, "factor is 1.5"),
    (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="square"), gradus.ValueError, "mode square is unknown"),
    (lambda s, o: s.OneCycleLR(optim.Adagrad(o.param_groups), 1.0, 9), gradus.ValueError, "cycle_momentum=False"),
])
def test_mistakes_are_named(mistake, error, text):
    with pytest.raises(error, match=text):
        mistake(lr_scheduler, sgd())
