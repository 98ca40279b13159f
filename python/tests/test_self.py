"""Methods and properties of every class of C++ refuse objects of other classes: a TypeError each, and no crash."""

import enum
import inspect
import types

import pytest

import gradus
from gradus import nn


def classes(module, known):
    for value in vars(module).values():
        if inspect.ismodule(value) and value.__name__.startswith("gradus._gradus") and value not in known:
            known.add(value)
            yield from classes(value, known)
        elif isinstance(value, type) and value.__module__.startswith("gradus") and value not in known:
            known.add(value)
            if not issubclass(value, (BaseException, enum.Enum)):
                yield value


ARGUMENTS = [(), *[(each,) * count for each in (1, True, "x", None, [], {}, gradus.ones(2)) for count in (1, 2, 3)],
             ("x", 1), ("x", None), ("x", nn.Linear(1, 1)), (lambda: 1,)]


def calls(cls):
    """(name, function, its arguments after self) of what the class itself has from C++."""
    for name, value in vars(cls).items():
        if isinstance(value, property):
            yield name, value.fget, [()]
            yield name, value.fset, ARGUMENTS[1:]
        elif callable(value) and not isinstance(value, (staticmethod, types.BuiltinFunctionType)):
            yield name, value, ARGUMENTS


def of_cpp(function):
    return function is not None and not isinstance(function, types.FunctionType)


@pytest.mark.parametrize("cls", [pytest.param(each, id=each.__qualname__) for each in classes(gradus._gradus, set())])
def test_objects_of_other_classes_are_refused(cls):
    others = ([1], "x", 1.5, None, object(), cls, gradus.device("cpu"), gradus.ones(2), nn.ReLU(), gradus.Generator())
    wrong = []
    for name, function, arguments in calls(cls):
        for other in (each for each in others if of_cpp(function) and not isinstance(each, cls)):
            for given in arguments:
                try:
                    if function(other, *given) is not NotImplemented:
                        wrong.append((name, other, given))
                except TypeError:
                    pass
                except Exception as error:
                    wrong.append((name, other, given, repr(error)))
    assert not wrong


def test_a_module_before_init_says_what_is_missing():
    class Net(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(gradus.Error, match=r"call super\(\).__init__\(\) before layer is set"):
        Net()
    blank = Net.__new__(Net)
    with pytest.raises(gradus.Error, match=r"call super\(\).__init__\(\) before layer is read"):
        blank.layer
    with pytest.raises(gradus.Error, match=r"call super\(\).__init__\(\) before layer is deleted"):
        del blank.layer
    with pytest.raises(gradus.TypeError, match="the name of an attribute is of type int, expected str"):
        nn.Module.__setattr__(nn.ReLU(), 1, 2)
