"""What a module has registered, as dictionaries that change it; its mode, and its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._gradus._nn import Module
from ._module import _class_of_cpp, _register_buffer, _state_dict
from .parameter import Parameter


class _Registered(dict[str, Any]):
    """What a module has registered, by name. What is set or deleted here is set or deleted there."""

    def __init__(self, module: Module, values: dict[str, Any], put: Callable[..., Any]) -> None:
        super().__init__(values)
        self._module, self._put = module, put

    def __setitem__(self, name: str, value: Any) -> None:
        self._put(self._module, name, value)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        Module.__delattr__(self._module, name)

    def pop(self, name: str, *default: Any) -> Any:
        value = super().get(name, *default) if default else self[name]
        if name in self:
            del self[name]
        return value

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def clear(self) -> None:
        for name in list(self):
            del self[name]


def _put_parameter(module: Module, name: str, value: Any) -> None:
    if value is None or isinstance(value, Parameter):
        setattr(module, name, value)
        return
    if dict(module.named_parameters(recurse=False)).get(name) is not None:
        Module.__delattr__(module, name)
    setattr(module, name, value)


def _modules(self: Module) -> dict[str, Any]:
    return _Registered(self, dict(self.named_children()), setattr)


def _parameters(self: Module) -> dict[str, Any]:
    """By name; one that stands under two names is there under both."""
    buffers = dict(self.named_buffers(recurse=False))
    values = {name: getattr(self, name) for name in _state_dict(self) if "." not in name and name not in buffers}
    return _Registered(self, values, _put_parameter)


def _buffers(self: Module) -> dict[str, Any]:
    return _Registered(self, dict(self.named_buffers(recurse=False)), _register_buffer)


for _function in (_modules, _parameters, _buffers):
    setattr(Module, _function.__name__, property(_function))


def _set_training(self: Module, training: bool) -> None:
    """Sets the mode of this module alone."""
    below = [(module, module.training) for module in self.modules() if module is not self]
    Module.train(self, training)
    for module, mode in below:
        if module.training != mode:
            Module.train(module, mode)


setattr(Module, "training", property(Module.training.fget, _set_training, doc=Module.training.__doc__))  # type: ignore[attr-defined]


def _dir(self: Module) -> list[str]:
    options = self._options() if _class_of_cpp(type(self)) else {}
    return sorted({*object.__dir__(self), *options, *self._parameters, *self._buffers, *self._modules})


setattr(Module, "__dir__", _dir)
