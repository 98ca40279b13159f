"""What a call of a module or a function takes on its way to C++."""

import gc
import sys

import pytest

import gradus
from gradus import nn
from gradus.nn import functional as F


def frames_of_package(run):
    """The functions of the package's Python that run() calls."""
    seen = []

    def note(frame, event, arg):
        if event == "call" and frame.f_globals.get("__name__", "").startswith("gradus"):
            seen.append(frame.f_code.co_name)

    run()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return seen


def test_a_training_step_runs_no_python_of_the_package():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2), nn.LayerNorm(2)))
    adamw = gradus.optim.AdamW(model.parameters(), lr=1e-3)
    x, y = gradus.rand(3, 4), gradus.tensor([0, 1, 1])

    def step():
        adamw.zero_grad()
        with gradus.autocast("cpu", gradus.bfloat16):
            scores = model(x)
            loss = F.cross_entropy(scores.reshape(-1, scores.size(-1)), y.flatten(), label_smoothing=0.1)
        loss.backward()
        adamw.step()

    assert frames_of_package(step) == []


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x, *, factor=1):
        return self.linear(x) * factor


def test_a_call_is_forward_between_hooks():
    model, x = Scaled(), gradus.rand(1, 2)
    assert frames_of_package(lambda: model(x, factor=2)) == []
    expected = model.linear(x)
    assert gradus.equal(model(x, factor=2), expected * 2)
    assert gradus.equal(nn.Module.__call__(model, x), expected)
    model.register_forward_hook(lambda module, args, output: output + 1)
    assert gradus.equal(model(x), expected + 1)
    model.forward = lambda x: x * 0
    assert gradus.equal(model(x), gradus.ones(1, 2))
    with pytest.raises(ZeroDivisionError):
        nn.Sequential(nn.Linear(2, 2), Raises())(x)


class Raises(nn.Module):
    def forward(self, x):
        return 1 / 0


class Doubled(nn.Linear):
    """A layer of C++ with a forward() of Python."""

    def forward(self, input):
        return super().forward(input) * 2


class Counted(nn.Linear):
    """A layer of C++ with a call of Python."""

    calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return super().__call__(*args, **kwargs)


def test_layers_of_cpp_may_be_overridden():
    x = gradus.rand(1, 2)
    doubled, counted = Doubled(2, 2), Counted(2, 2)
    assert gradus.equal(doubled(x), F.linear(x, doubled.weight, doubled.bias) * 2)
    assert gradus.equal(counted(input=x), F.linear(x, counted.weight, counted.bias)) and counted.calls == 1


@pytest.mark.parametrize("cls", [nn.Module, nn.Linear, nn.Sequential, Scaled])
def test_a_module_is_made_before_it_is_called(cls):
    with pytest.raises(gradus.Error, match=r"call super\(\).__init__\(\) before the module is called"):
        cls.__new__(cls)(gradus.rand(1, 2))


def test_keywords_of_a_call_stay_as_they_are():
    given = {"input": gradus.rand(1, 2)}
    nn.Linear(2, 2).__call__(**given)
    nn.Linear(2, 2).forward(**given)
    assert list(given) == ["input"]
    options = {"reduction": "sum"}
    F.mse_loss(gradus.rand(2), gradus.rand(2), **options)
    assert list(options) == ["reduction"]
    with pytest.raises(gradus.TypeError, match="other is unknown"):
        nn.Linear(2, 2)(gradus.rand(1, 2), other=1)
    with pytest.raises(gradus.TypeError, match="an argument is given twice"):
        nn.Linear(2, 2)(gradus.rand(1, 2), input=gradus.rand(1, 2))


def test_a_sequential_calls_what_it_holds_at_the_time():
    model = nn.Sequential(nn.Identity(), nn.Identity())

    class Grows(nn.Module):
        def forward(self, x):
            model.append(nn.Flatten(0))
            return x

    model[0] = Grows()
    x = gradus.rand(2, 2)
    assert model(x).shape == (2, 2) and model(x).shape == (4,)
    assert [type(each) for each in model] == [Grows, nn.Identity, nn.Flatten, nn.Flatten]
    assert list(model.children())[0] is model[0]


def test_calls_keep_nothing():
    model, x = nn.Sequential(Scaled(), nn.Linear(2, 2)), gradus.rand(1, 2)
    for _ in range(3):
        model(x), F.mse_loss(x, x, reduction="sum"), model[1](input=x)
    gc.collect()
    before = [sys.getrefcount(each) for each in (model, model[0], model[1], x)]
    for _ in range(100):
        model(x), F.mse_loss(x, x, reduction="sum"), model[1](input=x)
        with gradus.autocast("cpu"):
            pass
    assert [sys.getrefcount(each) for each in (model, model[0], model[1], x)] == before


def test_autocast_is_left_as_it_was_found():
    x = gradus.rand(2, 2)
    kind = lambda: (x @ x).dtype  # noqa: E731
    scope = gradus.autocast("cpu", gradus.float16)
    with scope as entered:
        assert entered is scope and kind() == gradus.float16
        with gradus.autocast("cpu", enabled=False):
            assert kind() == gradus.float32
        with pytest.raises(ZeroDivisionError), gradus.autocast("cpu", gradus.bfloat16):
            assert kind() == gradus.bfloat16
            1 / 0
        assert kind() == gradus.float16
    assert kind() == gradus.float32
    with scope:
        assert kind() == gradus.float16
    with pytest.raises(gradus.Error, match="autocast: it is left, and was not entered; use `with`"):
        scope.__exit__(None, None, None)
    decorated = gradus.autocast(device_type="cpu", dtype=gradus.bfloat16)(kind)
    assert decorated() == gradus.bfloat16 and kind() == gradus.float32
    with pytest.raises(gradus.TypeError, match="float16"):
        gradus.autocast("cpu", gradus.float32).__enter__()
    assert kind() == gradus.float32
