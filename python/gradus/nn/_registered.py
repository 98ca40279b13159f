"""What a module has registered: adding it, finding it by name, and dictionaries that change it; its mode, and its names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _gradus
from .._gradus._nn import Module
from . import _state as _state  # state_dict() and load_state_dict()
from ._module import _class_of_cpp, _named_buffers, _named_modules, _named_parameters, _register_buffer, _register_parameter
from ._module import _state_dict
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
    if dict(_named_parameters(module, recurse=False)).get(name) is not None:
        Module.__delattr__(module, name)
    setattr(module, name, value)


def _modules(self: Module) -> dict[str, Any]:
    return _Registered(self, dict(self.named_children()), setattr)


def _parameters(self: Module) -> dict[str, Any]:
    """By name; one that stands under two names is there under both."""
    buffers = dict(_named_buffers(self, recurse=False))
    values = {name: getattr(self, name) for name in _state_dict(self) if "." not in name and name not in buffers}
    return _Registered(self, values, _put_parameter)


def _buffers(self: Module) -> dict[str, Any]:
    return _Registered(self, dict(_named_buffers(self, recurse=False)), _register_buffer)


def _non_persistent_buffers_set(self: Module) -> set[str]:
    """The names of the buffers that state_dict() leaves out."""
    names: set[str] = self.__dict__.setdefault("_left_out", set())
    return names


for _function in (_modules, _parameters, _buffers, _non_persistent_buffers_set):
    setattr(Module, _function.__name__, property(_function))


def _check_name(self: Module, method: str, name: Any) -> None:
    """Errors: TypeError for a name that is no text, ValueError for that of an attribute, which would hide what is registered."""
    if not isinstance(name, str):
        raise _gradus.TypeError(f"{method}: the name {name!r} is of type {type(name).__name__}; expected str")
    value = self.__dict__.get(name)
    if hasattr(type(self), name) or not (value is None or isinstance(value, (Module, Parameter))):
        raise _gradus.ValueError(f"{method}: {type(self).__name__} has an attribute {name}, which is not registered; "
                                 "expected another name, or delete the attribute first")


def register_buffer(self: Module, name: str, tensor: Any, persistent: bool = True) -> None:
    """Adds a buffer: a tensor that is no parameter, or None. persistent: state_dict() has it.

    Errors: ValueError for a name that is taken; TypeError for what is no tensor.
    """
    _check_name(self, "register_buffer", name)
    _register_buffer(self, name, tensor)
    self.__dict__.pop(name, None)
    self.__dict__.setdefault("_declared", {})[name] = "buffer"
    if persistent:
        self.__dict__.get("_left_out", set()).discard(name)
    else:
        self.__dict__.setdefault("_left_out", set()).add(name)


def register_parameter(self: Module, name: str, param: Any) -> None:
    """Adds a parameter, or None. Errors: ValueError for a name that is taken; TypeError for what is no nn.Parameter."""
    _check_name(self, "register_parameter", name)
    _register_parameter(self, name, param)
    self.__dict__.pop(name, None)
    if param is None:
        self.__dict__.setdefault("_declared", {})[name] = "parameter"


_add_module = Module.add_module


def add_module(self: Module, name: str, module: Module | None) -> None:
    """Adds a submodule. Errors: ValueError for a name that is taken; TypeError for what is no nn.Module."""
    _check_name(self, "add_module", name)
    _add_module(self, name, module)


def get_submodule(self: Module, target: str) -> Module:
    """The module below of that name: "layers.0". Errors: AttributeError where there is none."""
    for name in target.split(".") if target else ():
        if not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} has no attribute `{name}`; the target is {target}")
        self = getattr(self, name)
        if not isinstance(self, Module):
            raise AttributeError(f"`{name}` is not an nn.Module; the target is {target}")
    return self


def set_submodule(self: Module, target: str, module: Module, strict: bool = False) -> None:
    """Puts a module under that name: "layers.0". strict: there is one already, which it replaces.

    Errors: ValueError for an empty name, or what is no module; AttributeError where the module that holds it is not there,
    where something else has the name, and, with strict, where nothing has it.
    """
    if not target:
        raise _gradus.ValueError("set_submodule: target is empty; expected the name of a submodule")
    if not isinstance(module, Module):
        raise _gradus.ValueError(f"set_submodule: module is of type {type(module).__name__}; expected an nn.Module")
    path, _, name = target.rpartition(".")
    parent = self.get_submodule(path)
    if strict or hasattr(parent, name):
        parent.get_submodule(name)
    setattr(parent, name, module)


def _tensor_at(kind: str) -> Callable[..., Any]:
    def get(self: Module, target: str) -> Any:
        path, _, name = target.rpartition(".")
        part = self.get_submodule(path)
        found = getattr(part, f"_{kind}s")
        if name in found:
            return found[name]
        if hasattr(part, name):
            raise AttributeError(f"`{name}` is not a {kind}; the target is {target}")
        raise AttributeError(f"{type(part).__name__} has no attribute `{name}`; the target is {target}")

    get.__name__ = get.__qualname__ = f"get_{kind}"
    get.__doc__ = f'The {kind} below of that name: "layers.0.weight". Errors: AttributeError where there is none.'
    return get


def named_modules(self: Module, memo: set[Module] | None = None, prefix: str = "",
                  remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
    """An iterator over (name, module): this one and all below.

    memo: modules that are left out; those that are met are added. prefix: the name of this module. remove_duplicate: a
    module that has several names comes once, under the first.
    """
    if memo is None and remove_duplicate:
        return _named_modules(self, prefix)  # type: ignore[no-any-return]
    return _each_module(self, set() if memo is None else memo, prefix, remove_duplicate)


def _each_module(self: Module, memo: set[Module], prefix: str, remove_duplicate: bool) -> Iterator[tuple[str, Module]]:
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    yield prefix, self
    for name, child in self._modules.items():
        yield from _each_module(child, memo, f"{prefix}.{name}" if prefix and name else prefix + name, remove_duplicate)


def modules(self: Module, remove_duplicate: bool = True) -> Iterator[Module]:
    """An iterator over this module and all below. remove_duplicate: one that has several names comes once."""
    return _modules_once(self) if remove_duplicate else (module for _, module in self.named_modules(remove_duplicate=False))


_modules_once, _all_buffers = Module.modules, Module.buffers


def _each_tensor(self: Module, kind: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
    """All of that kind under all their names."""
    for path, module in self.named_modules(prefix=prefix, remove_duplicate=False) if recurse else [(prefix, self)]:
        for name, tensor in getattr(module, kind).items():
            yield f"{path}.{name}" if path else name, tensor


def named_parameters(self: Module, prefix: str = "", recurse: bool = True,
                     remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
    """An iterator over (name, parameter).

    prefix: the name of this module. recurse: those of the modules below, too. remove_duplicate: a parameter that has
    several names comes once, under the first.
    """
    if remove_duplicate:
        return _named_parameters(self, prefix, recurse)
    return _each_tensor(self, "_parameters", prefix, recurse)


def named_buffers(self: Module, prefix: str = "", recurse: bool = True,
                  remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
    """An iterator over (name, buffer), as named_parameters()."""
    known = set()
    for name, tensor in _named_buffers(self, prefix, recurse):
        if not (remove_duplicate and id(tensor) in known):
            known.add(id(tensor))
            yield name, tensor


def buffers(self: Module, recurse: bool = True) -> Iterator[Any]:
    """An iterator over the buffers. recurse: those of the modules below, too."""
    return iter({id(tensor): tensor for tensor in _all_buffers(self, recurse)}.values())


def to_empty(self: Module, *, device: Any, recurse: bool = True) -> Module:
    """Gives all parameters and buffers new memory on a device, whose values are anything; for modules of device "meta".

    recurse: those of the modules below, too.
    """
    for tensor in [*self.parameters(recurse), *self.buffers(recurse)]:
        tensor.data = _gradus.empty_like(tensor, device=device)
    return self


for _method in (register_buffer, register_parameter, add_module, get_submodule, set_submodule, _tensor_at("parameter"),
                _tensor_at("buffer"), named_modules, modules, named_parameters, named_buffers, buffers, to_empty):
    setattr(Module, _method.__name__, _method)
setattr(Module, "register_module", add_module)


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
