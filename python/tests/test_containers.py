"""Lists and dictionaries of modules and of parameters, and parameters under several names."""

import copy

import pytest

import gradus
from gradus import nn


def parameter(*shape):
    return nn.Parameter(gradus.ones(*shape or (2, 2)))


def test_a_dictionary_of_parameters_is_one():
    p, q = parameter(), parameter(3)
    x = nn.ParameterDict({"a": p})
    x.update({"b": q, "again": p})
    assert list(x) == list(x.keys()) == ["a", "b", "again"] and list(x.values())[2] is p and len(x) == 3
    assert dict(x.items())["b"] is q and x.get("c") is None and x.get("a") is p
    assert x.setdefault("c", gradus.zeros(1)) is x["c"] and isinstance(x.c, nn.Parameter)
    assert x.pop("c").tolist() == [0] and "c" not in x
    del x["b"]
    for wrong in (lambda: x["b"], lambda: x.pop("b"), lambda: x.__delitem__("b")):
        with pytest.raises(KeyError):
            wrong()
    assert list(nn.ParameterDict(x)) == ["a", "again"] and len(list(x.parameters())) == 1
    x.clear()
    assert len(x) == 0 and not list(x.parameters())


def test_a_list_of_parameters_is_one():
    p, q = parameter(), parameter(3)
    x = nn.ParameterList([p, p])
    x.extend([q])
    x += [gradus.zeros(1)]
    assert len(x) == 4 and [each.shape for each in x] == [(2, 2), (2, 2), (3,), (1,)] and x[1] is p and x[-2] is q
    x[1] = gradus.zeros(5)
    assert x[1].shape == (5,) and isinstance(x[1], nn.Parameter) and len(x[1:]) == 3 and x[1:][1] is q
    assert list(x.state_dict()) == ["0", "1", "2", "3"]
    with pytest.raises(IndexError):
        x[4]


def test_a_parameter_under_two_names_keeps_both():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Parameter(gradus.ones(2))
            self.second = self.first

    for module in (Tied(), copy.deepcopy(Tied())):
        assert [name for name, _ in module.named_parameters()] == ["first"]
        assert list(module._parameters) == list(module.state_dict()) == ["first", "second"]
        assert module.second is module.first


@pytest.mark.parametrize("kind", [nn.Sequential, lambda *modules: nn.ModuleList(modules)])
def test_lists_of_modules_are_added(kind):
    x, y = kind(nn.ReLU(), nn.Tanh()), kind(nn.Linear(1, 2))
    z = x + y
    assert type(z) is type(x) and list(z) == [*x, *y] and len(x) == 2 and len(y) == 1
    assert list(z.state_dict()) == ["2.weight", "2.bias"]
