"""The state of a module by name: state_dict() and load_state_dict(), their hooks, and what a class of Python has of its own.

Where no module has hooks or methods of its own for it, C++ does all at once; else each module does its part, as in PyTorch.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from .. import _gradus, autograd
from .._gradus._nn import Module
from ._module import _HookHandle, _hooks, _keeps_weights, _load_state_dict, _numbers, _register_buffer, _state_dict
from ._module import _register_parameter


def _left_out(modules: Iterable[tuple[str, Module]]) -> set[str]:
    """The names of all buffers that state_dict() leaves out."""
    return {f"{path}.{name}" if path else name for path, module in modules for name in module.__dict__.get("_left_out", ())}


def _has_own_state(modules: Iterable[Module]) -> bool:
    """Whether a module or its class takes part in state_dict() or load_state_dict() in a way of its own."""
    modules = list(modules)
    return any(getattr(cls, name) is not function for cls in set(map(type, modules)) for name, function in _METHODS.items()) or \
        not all(_NAMES.isdisjoint(module.__dict__) for module in modules)


def _own_tensors(module: Module) -> dict[str, Any]:
    """The parameters and buffers of this module alone that its state has."""
    left_out = module.__dict__.get("_left_out", ())
    return {**module._parameters, **{name: x for name, x in module._buffers.items() if name not in left_out}}


def state_dict(self: Module, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
    """Parameters and buffers by name; they share the memory of the module.

    destination: a dictionary to which they are added, and which is returned. prefix: what each name begins with.
    keep_vars: the parameters themselves, with their graph. Submodules whose class has a state_dict(), a
    _save_to_state_dict() or a get_extra_state() of its own are asked by it.
    """
    if destination is None:
        destination = collections.OrderedDict()
        setattr(destination, "_metadata", collections.OrderedDict())
    parts = dict(self.named_modules())
    if _has_own_state(parts.values()):
        return _state_by_parts(self, destination, prefix, keep_vars)  # type: ignore[no-any-return]
    values = _state_dict(self)
    names = _names_by_module(values, parts)
    if len(names) > len(parts):  # a module has two names
        parts = dict(self.named_modules(remove_duplicate=False))
        names = _names_by_module(values, parts)
    if keep_vars:
        values.update(self.named_parameters(remove_duplicate=False))
        values.update(self.named_buffers(remove_duplicate=False))
    if hasattr(destination, "_metadata"):
        destination._metadata.update((prefix + path if path else prefix[:-1], {"version": 1}) for path in parts)
    left_out = _left_out(parts.items())
    for name in itertools.chain.from_iterable(names.values()):
        if name not in left_out:
            destination[prefix + name] = values[name]
    return destination  # type: ignore[no-any-return]


def _names_by_module(values: Iterable[str], parts: Iterable[str]) -> dict[str, list[str]]:
    """The names module by module, as PyTorch has them; C++ has all parameters before all buffers."""
    names: dict[str, list[str]] = {path: [] for path in parts}
    for name in values:
        names.setdefault(name.rpartition(".")[0], []).append(name)
    return names


def _below(prefix: str, name: str) -> str:
    """What the names below a submodule begin with; a module that stands for another gives it no name."""
    return f"{prefix}{name}." if name else prefix


def _state_by_parts(self: Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    metadata = {"version": self._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = metadata
    for hook in list(self.__dict__.get("_state_dict_pre_hooks", {}).values()):
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in self._modules.items():
        child.state_dict(destination=destination, prefix=_below(prefix, name), keep_vars=keep_vars)
    for hook in list(self.__dict__.get("_state_dict_hooks", {}).values()):
        result = hook(self, destination, prefix, metadata)
        if result is not None:
            destination = result
    return destination


def _save_to_state_dict(self: Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Adds the parameters and buffers of this module alone, and get_extra_state() where its class has one."""
    for name, value in _own_tensors(self).items():
        destination[prefix + name] = value if keep_vars else value.detach()
    if type(self).get_extra_state is not get_extra_state:
        destination[prefix + "_extra_state"] = self.get_extra_state()


def get_extra_state(self: Module) -> Any:
    """What state_dict() has under the name "_extra_state". A class that defines it defines set_extra_state(), too."""
    raise _gradus.NotImplementedError(f"get_extra_state: {type(self).__name__} has no state but its tensors; define it in the class")


def set_extra_state(self: Module, state: Any) -> None:
    """Takes what get_extra_state() gave, when load_state_dict() finds it."""
    raise _gradus.NotImplementedError(f"set_extra_state: {type(self).__name__} has no state but its tensors; define it in the class")


class _IncompatibleKeys(collections.namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The names that load_state_dict() did not find, and those that it does not know."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def load_state_dict(self: Module, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
    """Copies the values to the parameters and buffers of the same names.

    Returns the names that are missing, and those that are unknown; strict: they are an error. assign: the tensors of
    state_dict take the place of those of the module. Submodules whose class has a _load_from_state_dict() or a
    set_extra_state() of its own take their part by it.
    """
    if not hasattr(state_dict, "items"):
        raise _gradus.TypeError(f"load_state_dict: state_dict is of type {type(state_dict).__name__}; expected a dictionary, "
                                "as state_dict() returns it")
    if _has_own_state(self.modules()):
        return _load_by_parts(self, state_dict, strict, assign)
    own = self.state_dict()
    missing, unknown = [name for name in own if name not in state_dict], [name for name in state_dict if name not in own]
    state_dict = state_dict if strict else {name: state_dict[name] for name in own if name in state_dict}
    for name, value in state_dict.items():
        if not isinstance(value, _gradus.Tensor):
            raise _gradus.TypeError(f"load_state_dict: {_no_tensor(name, value)}")
    if assign and not (strict and (missing or unknown)):
        for name in (name for name in own if name in state_dict):
            path, _, last = name.rpartition(".")
            _assign(self.get_submodule(path), last, state_dict[name])
    else:
        _load_state_dict(self, state_dict, strict and bool(missing or unknown))
    return _IncompatibleKeys(missing, unknown)


def _no_tensor(name: str, value: Any) -> str:
    fix = f"; if it is the state dict, pass state_dict[{name!r}]" if isinstance(value, dict) else ""
    return f"{name} is of type {type(value).__name__}; expected a tensor{fix}"


def _assign(module: Module, name: str, value: Any) -> None:
    """Puts a tensor in the place of a parameter or a buffer."""
    known = module._parameters.get(name)
    if known is None:
        _register_buffer(module, name, value)
    elif _keeps_weights(module, name):
        known.data = value.detach()
    else:
        made = value if isinstance(value, type(known)) else type(known)(value, known.requires_grad)
        _register_parameter(module, name, made)


def _load_by_parts(self: Module, state_dict: Any, strict: bool, assign: bool) -> Any:
    missing: list[str] = []
    unknown: list[str] = []
    errors: list[str] = []
    keys = _IncompatibleKeys(missing, unknown)
    all_metadata = getattr(state_dict, "_metadata", None) or {}

    def load(module: Module, values: Any, prefix: str) -> None:
        metadata = {**all_metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
        module._load_from_state_dict(values, prefix, metadata, True, missing, unknown, errors)
        for name, child in module._modules.items():
            below = _below(prefix, name)
            load(child, {key: value for key, value in values.items() if key.startswith(below)}, below)
        for hook in list(module.__dict__.get("_load_state_dict_post_hooks", {}).values()):
            hook(module, keys)

    values: Any = collections.OrderedDict(state_dict)
    setattr(values, "_metadata", all_metadata)
    load(self, values, "")
    if strict:
        errors = [f"{name} is missing" for name in missing] + [f"{name} is unknown" for name in unknown] + errors
    if errors:
        raise _gradus.ValueError(f"load_state_dict: the values do not fit {type(self).__name__}:\n  " + "\n  ".join(errors))
    return keys


def _load_from_state_dict(self: Module, state_dict: Any, prefix: str, local_metadata: dict[str, Any], strict: bool,
                          missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
    """Copies the values of this module alone, whose names begin with the prefix; set_extra_state() where its class has one.

    It adds to the three lists: the names that are missing, those that are unknown, and what does not fit.
    """
    for hook in list(self.__dict__.get("_load_state_dict_pre_hooks", {}).values()):
        hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = _own_tensors(self)
    for name, known in own.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        value = state_dict[key]
        if not isinstance(value, _gradus.Tensor):
            error_msgs.append(_no_tensor(key, value))
        elif value.shape != known.shape:
            error_msgs.append(f"{key} has shape {list(value.shape)}, expected {list(known.shape)}")
        elif local_metadata.get("assign_to_params_buffers"):
            _assign(self, name, value)
        else:
            with autograd.no_grad():
                known.copy_(value)
    extra = prefix + "_extra_state"
    takes_extra = type(self).set_extra_state is not set_extra_state
    if takes_extra and extra in state_dict:
        self.set_extra_state(state_dict[extra])
    elif takes_extra and strict:
        missing_keys.append(extra)
    children = self._modules
    if strict and "" not in children:
        for key in (key for key in state_dict if key.startswith(prefix)):
            first, dot, _ = key[len(prefix):].partition(".")
            if not (first in children if dot else first in own or takes_extra and key == extra):
                unexpected_keys.append(key)


def _add_state_hook(module: Module, kind: str, hook: Callable[..., Any]) -> _HookHandle:
    hooks, number = _hooks(module, kind), next(_numbers)
    hooks[number] = hook
    return _HookHandle(lambda: hooks.pop(number, None))


def _call_without_result(hook: Callable[..., Any], *args: Any) -> None:
    result = hook(*args)
    if result is not None:
        raise _gradus.TypeError(f"register_state_dict_post_hook: the hook returned a value of type {type(result).__name__}; "
                                "expected None, and a hook that changes the dictionary that it is given")


def _call_without_module(hook: Callable[..., Any], module: Module, *args: Any) -> None:
    hook(*args)


def register_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, prefix, keep_vars) before state_dict() reads the module."""
    return _add_state_hook(self, "state_dict_pre", hook)


def register_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, state_dict, prefix, local_metadata) after state_dict(); the hook may change the dictionary.

    Errors of state_dict(): TypeError where the hook returns something.
    """
    return _add_state_hook(self, "state_dict", functools.partial(_call_without_result, hook))


def _register_state_dict_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """As register_state_dict_post_hook(); what the hook of the outermost module returns takes the place of the dictionary."""
    return _add_state_hook(self, "state_dict", hook)


def register_load_state_dict_pre_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls a hook before load_state_dict() reads the values of the module; the hook may change state_dict and the lists.

    hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs).
    """
    return _add_state_hook(self, "load_state_dict_pre", hook)


def _register_load_state_dict_pre_hook(self: Module, hook: Callable[..., Any], with_module: bool = False) -> _HookHandle:
    """As register_load_state_dict_pre_hook(). with_module: the hook is given the module first."""
    return register_load_state_dict_pre_hook(self, hook if with_module else functools.partial(_call_without_module, hook))


def register_load_state_dict_post_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, incompatible_keys) after load_state_dict(); the hook may change the lists of names."""
    return _add_state_hook(self, "load_state_dict_post", hook)


# What a class may have of its own, and what an object may have in the place of it.
_METHODS: dict[str, Any] = {"_version": 1, "state_dict": state_dict, "_save_to_state_dict": _save_to_state_dict,
                            "_load_from_state_dict": _load_from_state_dict, "get_extra_state": get_extra_state,
                            "set_extra_state": set_extra_state}
_NAMES = {"state_dict", "_save_to_state_dict", "_load_from_state_dict", "_version", "_state_dict_hooks", "_state_dict_pre_hooks",
          "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"}
for _name, _value in _METHODS.items():
    setattr(Module, _name, _value)
for _function in (load_state_dict, register_state_dict_pre_hook, register_state_dict_post_hook, _register_state_dict_hook,
                  register_load_state_dict_pre_hook, _register_load_state_dict_pre_hook, register_load_state_dict_post_hook):
    setattr(Module, _function.__name__, _function)
