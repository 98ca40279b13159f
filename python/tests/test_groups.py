"""Groups of an optimizer's parameters as dictionaries."""

import copy
import pickle

import pytest

import gradus
from gradus import nn

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
OPTIMIZERS = [name for name, kind in vars(gradus.optim).items()
              if isinstance(kind, type) and issubclass(kind, gradus.optim.Optimizer) and kind is not gradus.optim.Optimizer]


def parameter(*shape):
    return nn.Parameter(gradus.ones(*shape or (2, 2)))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_has_a_rate_by_default(name):
    optimizer = getattr(gradus.optim, name)([parameter()])
    assert optimizer.param_groups[0]["lr"] == optimizer.defaults["lr"] > 0
    assert name != "SGD" or optimizer.defaults["lr"] == 0.001


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "LBFGS"])
def test_a_group_keeps_what_a_program_puts_there(name):
    kind = getattr(gradus.optim, name)
    optimizer = kind([{"params": [parameter()], "name": "body", "lr": 0.5}, {"params": [parameter()], "scale": [1, 2]}])
    first, second = optimizer.param_groups
    assert first["name"] == "body" and first["lr"] == 0.5 and "name" not in second and second["scale"] == [1, 2]
    second["name"] = "head"
    assert second.setdefault("name", "other") == "head" and second.setdefault("depth", 3) == 3
    assert [group["name"] for group in optimizer.param_groups] == ["body", "head"]
    assert {"name", "scale", "depth"} <= set(second.keys()) and second.get("nothing") is None
    optimizer.add_param_group({"params": [parameter()], "name": "tail"})
    assert optimizer.param_groups[2]["name"] == "tail"
    with pytest.raises(KeyError):
        first["scale"]
    with pytest.raises(TypeError, match="name is unknown"):
        kind([parameter()], name="body")
    with pytest.raises(ValueError, match="add_param_group"):
        first["params"] = []


@pytest.mark.parametrize("how", COPIES)
def test_copies_and_states_have_it_too(how):
    optimizer = gradus.optim.Adam([{"params": [parameter()], "name": "body"}, {"params": [parameter()]}])
    gradus.optim.lr_scheduler.StepLR(optimizer, 1)
    assert "initial_lr" in optimizer.param_groups[0] and optimizer.param_groups[1]["initial_lr"] == 0.001
    copied = COPIES[how](optimizer)
    other = gradus.optim.Adam([{"params": [parameter()]}, {"params": [parameter()]}])
    other.load_state_dict(optimizer.state_dict())
    for each in (copied, other):
        first, second = each.param_groups
        assert first["name"] == "body" and "name" not in second and second["initial_lr"] == 0.001
    copied.param_groups[0]["name"] = "changed"
    assert optimizer.param_groups[0]["name"] == "body"


def test_a_schedule_may_be_resumed_by_the_first_rate():
    optimizer = gradus.optim.SGD([{"params": [parameter()], "initial_lr": 0.5}], lr=0.1)
    optimizer.param_groups[0]["initial_lr"] = 0.25
    schedule = gradus.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 2.0 ** -step)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.125
