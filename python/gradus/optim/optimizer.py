"""What optimizers do in Python's way, under the names of torch.optim.optimizer: groups, states, hooks.

The state and the groups of an optimizer of C++ are C++'s. One that a program writes has them as Python's dictionaries.
"""

from __future__ import annotations

import collections
import copy
import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from .. import _gradus
from .._gradus._optim import Optimizer as Optimizer, ParamGroup as ParamGroup
from ..nn._module import _HookHandle
from ._group import _Fixed, _native_option
from ._hooks import _add_hook, _hooks, _hooks_to_add_to, register_load_state_dict_post_hook, register_load_state_dict_pre_hook
from ._hooks import register_state_dict_post_hook, register_state_dict_pre_hook

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook", "required"]

_NATIVE = tuple(kind for kind in vars(_gradus._optim).values()
                if isinstance(kind, type) and issubclass(kind, Optimizer) and kind is not Optimizer)


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
"""The default of an option that each group needs."""


def _is_own(self: Any) -> bool:
    """Whether the algorithm is written in Python, by a class that derives from Optimizer itself."""
    return not isinstance(self, _NATIVE)


# --- Groups

_native_init, _native_add = Optimizer.__init__, Optimizer.add_param_group
_native_groups: Any = Optimizer.__dict__["param_groups"]


class _Groups(_Fixed):
    """The groups of an optimizer of C++; one that is appended is added to it."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__(_native_groups.__get__(optimizer))
        self.optimizer = optimizer

    def append(self, group: Any) -> None:
        self.optimizer.add_param_group(group)
        list.extend(self, _native_groups.__get__(self.optimizer)[len(self):])

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return getattr, (self.optimizer, "param_groups")


def _groups_of(optimizer: Any) -> Any:
    """The groups, to read and to set options: without the list that guards those of C++."""
    own = optimizer.__dict__.get("_own_groups")
    return _native_groups.__get__(optimizer) if own is None else own


def _give_to_cpp(self: Any, groups: Iterable[Any]) -> None:
    """C++ has the parameters of one's own optimizer, too: GradScaler finds them there."""
    known, is_made = set(), "_cpp_has_groups" in self.__dict__ or type(self) is Optimizer
    if is_made:
        known = {parameter for group in _native_groups.__get__(self) for parameter in _native_option(group, "params")}
    new = [parameter for group in groups for parameter in group["params"] if parameter not in known]
    if new and is_made:
        _native_add(self, {"params": new})
    elif new:
        defaults = self.__dict__.get("_own_defaults", {})
        _native_init(self, [{"params": new}], {})
        self.__dict__.update(_own_defaults=defaults, _cpp_has_groups=True)


def _names_and_tensors(group: Any) -> None:
    """Makes a list of a group's parameters, and one of their names where these are given."""
    params = group["params"]
    if isinstance(params, (set, frozenset)):
        raise _gradus.TypeError("Optimizer: params is a set, whose order changes between runs; expected a list")
    params = [params] if isinstance(params, _gradus.Tensor) else list(params)
    named = [each for each in params if isinstance(each, tuple)]
    if named and len(named) < len(params):
        raise _gradus.ValueError(f"Optimizer: {len(named)} of {len(params)} parameters have names; expected all or none")
    if named:
        group["param_names"] = [name for name, _ in named]
        params = [tensor for _, tensor in named]
    for each in params:
        if not isinstance(each, _gradus.Tensor):
            raise _gradus.TypeError(f"Optimizer: a parameter is of type {type(each).__name__}; expected a Tensor")
    group["params"] = params


def _checked_group(self: Any, group: Any, others: Iterable[Any]) -> Any:
    """The group with all options."""
    if isinstance(group, dict):
        _names_and_tensors(group)
    elif not isinstance(group, ParamGroup):
        raise _gradus.TypeError(f"add_param_group: param_group is of type {type(group).__name__}; expected a dictionary")
    for name, default in self.defaults.items():
        if default is required and name not in group:
            raise _gradus.ValueError(f"add_param_group: the group has no {name}; expected one, since the optimizer has none for all")
        group.setdefault(name, default)
    known = {parameter for other in others for parameter in other["params"]}
    if not known.isdisjoint(group["params"]):
        raise _gradus.ValueError("add_param_group: some parameters appear in more than one parameter group; give each to one")
    return group


def __init__(self: Any, params: Any, defaults: dict[str, Any]) -> None:
    if isinstance(params, (_gradus.Tensor, _gradus._nn.Module)):
        _native_init(self, params, {})  # says what it expects
    given = params if isinstance(params, _Groups) else list(params)
    if not given:
        raise _gradus.ValueError(f"{type(self).__name__}: optimizer got an empty parameter list; expected one parameter at least")
    self.defaults = defaults
    plain = [each for each in given if not isinstance(each, (dict, ParamGroup))]
    wanted: list[Any] = [{"params": plain}] if plain else []
    wanted += [each for each in given if isinstance(each, (dict, ParamGroup))]
    groups: list[Any] = []
    for group in wanted:
        groups.append(_checked_group(self, group, groups))
    self.param_groups = given if isinstance(params, _Groups) else groups


def add_param_group(self: Any, param_group: Any) -> None:
    """Adds parameters with options of their own.

    Errors: TypeError for what is no dictionary; ValueError where a required option is missing, only some parameters have
    names, or another group has a parameter, too.
    """
    group = _checked_group(self, param_group, self.param_groups)
    _give_to_cpp(self, [group])
    self.param_groups.append(group)


def _param_groups(self: Any) -> Any:
    """The groups of parameters with their options."""
    if "_own_groups" in self.__dict__:
        return self.__dict__["_own_groups"]
    return _Groups(self)


def _set_param_groups(self: Any, groups: Any) -> None:
    if _is_own(self):
        self.__dict__["_own_groups"] = groups
        _give_to_cpp(self, groups)
        return
    own = self.param_groups
    present, given = ([[id(parameter) for parameter in group["params"]] for group in each] for each in (own, groups))
    if present != given:
        raise AttributeError(f"the groups of {type(self).__name__} are those of C++; use add_param_group()")
    for group, other in zip(own, groups):
        group.update({key: value for key, value in other.items() if key != "params"})


def _defaults(self: Any) -> Any:
    """The options of groups that have none of their own."""
    return self.__dict__["_own_defaults"]


def _set_defaults(self: Any, defaults: Any) -> None:
    self.__dict__["_own_defaults"] = defaults


def _zero_grad(self: Any, set_to_none: bool = True) -> None:
    """Clears the gradients of all parameters."""
    for parameter in _parameters(self):
        if set_to_none:
            parameter.grad = None
        elif parameter.grad is not None:
            parameter.grad = parameter.grad.detach().zero_()


# --- States

# C++ names each value, as state.0.exp_avg and param_groups.0.lr; Python has dictionaries.
_cpp_state_dict, _load_flat = Optimizer.state_dict, Optimizer.load_state_dict


def _flat_state_dict(self: Any) -> dict[str, Any]:
    """What a file has of an optimizer: of one of C++ values by names, which C++ reads."""
    return self.state_dict() if _is_own(self) else _cpp_state_dict(self)


def _parameters(self: Any) -> list[Any]:
    return [parameter for group in self.param_groups for parameter in group["params"]]


def _state(self: Any) -> dict[Any, dict[str, Any]]:
    """The tensors of each parameter's number by name."""
    out: dict[Any, dict[str, Any]] = {}
    if _is_own(self):
        numbers = {parameter: number for number, parameter in enumerate(_parameters(self))}
        return {numbers.get(key, key): value for key, value in self.state.items()}
    for key, value in _cpp_state_dict(self).items():
        if key.startswith("state."):
            _, name, field = key.split(".", 2)
            out.setdefault(int(name) if name.isdigit() else name, {})[field] = value
    return out


def state_dict(self: Any) -> dict[str, Any]:
    """state: the tensors by the number of their parameter and by name. param_groups: options, and numbers of parameters."""
    for hook in _hooks(self, "state_dict_pre"):
        hook(self)
    groups, first = [], 0
    for group in self.param_groups:
        count = len(group["params"])
        groups.append({**{key: value for key, value in group.items() if key != "params"},
                       "params": list(range(first, first + count))})
        first += count
    out: dict[str, Any] = {"state": _state(self), "param_groups": groups}
    for hook in _hooks(self, "state_dict_post"):
        changed = hook(self, out)
        out = out if changed is None else changed
    return out


def load_state_dict(self: Any, state_dict: Any) -> None:
    """Takes copies of the values of a state dict, also of one by flat names, as a file of C++ has it.

    Errors: ValueError where it has other numbers of groups or parameters.
    """
    state_dict = dict(state_dict)
    for hook in _hooks(self, "load_state_dict_pre"):
        changed = hook(self, state_dict)
        state_dict = state_dict if changed is None else changed
    if "param_groups" not in state_dict:
        _load_flat(self, state_dict)
    else:
        _check_sizes(self, state_dict["param_groups"])
        (_load_own if _is_own(self) else _load_native)(self, state_dict)
    for hook in _hooks(self, "load_state_dict_post"):
        hook(self)


def _check_sizes(self: Any, given: Any) -> None:
    sizes, wanted = ([len(group["params"]) for group in groups] for groups in (given, self.param_groups))
    if len(sizes) != len(wanted):
        raise _gradus.ValueError(f"load_state_dict: the loaded state dict has a different number of parameter groups: {len(sizes)}; "
                                 f"expected {len(wanted)}, those of this optimizer")
    if sizes != wanted:
        raise _gradus.ValueError("load_state_dict: the loaded state dict contains a parameter group that doesn't match the size of "
                                 f"the optimizer's group: the groups have {sizes} parameters; expected {wanted}")


def _load_native(self: Any, state_dict: Any) -> None:
    own, flat = _cpp_state_dict(self), {}
    for i, group in enumerate(state_dict["param_groups"]):
        for key, value in group.items():
            name = f"param_groups.{i}.{key}"
            if key not in self.defaults and key not in ("params", "initial_lr"):
                continue
            if key == "params":
                flat.update({f"group_of.{number}": _gradus.tensor(i) for number in value})
            elif isinstance(value, str):
                flat[name] = _gradus.tensor(list(value.encode()), dtype=_gradus.uint8)
            elif isinstance(value, (tuple, list)):
                flat.update({f"{name}.{j}": _gradus.tensor(each, dtype=_gradus.float64) for j, each in enumerate(value)})
            elif value is not None and name in own:
                flat[name] = _gradus.tensor(value, dtype=own[name].dtype)
    for number, values in state_dict["state"].items():
        flat.update({f"state.{number}.{field}": value for field, value in values.items()})
    _load_flat(self, {name: value for name, value in flat.items() if name in own or not name.startswith("param_groups.")})
    for group, saved in zip(self.param_groups, state_dict["param_groups"]):
        group.update({key: value for key, value in saved.items() if key != "params" and key not in self.defaults})


def _fitting(parameter: Any, value: Any, name: Any = None) -> Any:
    """A copy of a saved value, where the parameter is. Floating tensors get its type, except the number of steps."""
    if isinstance(value, _gradus.Tensor):
        if name == "step":
            return value.clone()
        return value.to(parameter.device, parameter.dtype if parameter.is_floating_point() else value.dtype, copy=True)
    if isinstance(value, dict):
        return {key: _fitting(parameter, each, key) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_fitting(parameter, each) for each in value)
    return copy.deepcopy(value)


def _load_own(self: Any, state_dict: Any) -> None:
    numbers = [number for group in state_dict["param_groups"] for number in group["params"]]
    parameters = dict(zip(numbers, _parameters(self)))
    for group, saved in zip(self.param_groups, state_dict["param_groups"]):
        group.update((key, copy.deepcopy(value)) for key, value in saved.items() if key != "params")
    values: Any = collections.defaultdict(dict)
    for key, value in state_dict["state"].items():
        if key in parameters:
            values[parameters[key]] = _fitting(parameters[key], value)
        else:
            values[key] = copy.deepcopy(value)
    self.__setstate__({"state": values, "param_groups": self.param_groups})


class _NativeState(collections.defaultdict[Any, Any]):
    """The state of an optimizer of C++, as it is now. Entries that are set or taken away are so in C++, too."""

    def __init__(self, optimizer: Any, values: Any) -> None:
        super().__init__(dict, values)
        self.optimizer = optimizer

    def __setitem__(self, parameter: Any, values: Any) -> None:
        changed = values or parameter in self
        super().__setitem__(parameter, values)
        if changed:
            self.optimizer.state = self

    def __delitem__(self, parameter: Any) -> None:
        super().__delitem__(parameter)
        self.optimizer.state = self

    def pop(self, *args: Any) -> Any:
        value = super().pop(*args)
        self.optimizer.state = self
        return value

    def clear(self) -> None:
        super().clear()
        self.optimizer.state = self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return collections.defaultdict, (dict,), None, None, iter(self.items())


def state(self: Any) -> Any:
    """The tensors of each parameter by name; empty before its first step."""
    if _is_own(self):
        return self.__dict__.setdefault("_own_state", collections.defaultdict(dict))
    parameters = _parameters(self)
    return _NativeState(self, {parameters[number]: values for number, values in _state(self).items() if isinstance(number, int)})


def _set_state(self: Any, state: Any) -> None:
    if _is_own(self):
        self.__dict__["_own_state"] = state
        return
    numbers = {parameter: number for number, parameter in enumerate(_parameters(self))}
    flat = {name: value for name, value in _cpp_state_dict(self).items() if not name.startswith("state.")}
    for parameter, values in state.items():
        for field, value in values.items():
            flat[f"state.{numbers[parameter]}.{field}"] = _gradus.as_tensor(value)
    _load_flat(self, flat)


# --- Hooks of a step and of states

_for_all: dict[str, dict[int, Any]] = {"step_pre": {}, "step_post": {}}


def _add_hook_for_all(kind: str, hook: Any) -> _HookHandle:
    handle = _add_hook(_for_all[kind], hook)

    def remove() -> None:
        handle.remove()
        if not any(_for_all.values()):
            for cls in _NATIVE:
                delattr(cls, "step")

    for cls in _NATIVE:
        setattr(cls, "step", _with_hooks(Optimizer.step))
    return _HookHandle(remove)


def register_step_pre_hook(self: Any, hook: Callable[[Any, Any, Any], Any]) -> _HookHandle:
    """Calls hook(optimizer, args, kwargs) before each step(). It may return a pair (args, kwargs) in their place."""
    _see_steps(self)
    return _add_hook(_hooks_to_add_to(self, "step_pre"), hook)


def register_step_post_hook(self: Any, hook: Callable[[Any, Any, Any], None]) -> _HookHandle:
    """Calls hook(optimizer, args, kwargs) after each step()."""
    _see_steps(self)
    return _add_hook(_hooks_to_add_to(self, "step_post"), hook)


def register_optimizer_step_pre_hook(hook: Callable[[Any, Any, Any], Any]) -> _HookHandle:
    """register_step_pre_hook() of all optimizers."""
    return _add_hook_for_all("step_pre", hook)


def register_optimizer_step_post_hook(hook: Callable[[Any, Any, Any], None]) -> _HookHandle:
    """register_step_post_hook() of all optimizers."""
    return _add_hook_for_all("step_post", hook)


def _call(step: Any, self: Any, args: Any, kwargs: Any) -> Any:
    """A step between its hooks."""
    args = (self, *args)
    for hook in (*_for_all["step_pre"].values(), *_hooks(self, "step_pre")):
        changed = hook(self, args, kwargs)
        if changed is None:
            continue
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise _gradus.TypeError(f"{type(self).__name__}.step: a hook returned {type(changed).__name__}; expected None, or a "
                                    "pair of args and kwargs")
        args, kwargs = changed
    out = step(*args, **kwargs)
    self.__dict__["_opt_called"] = True
    for hook in (*_hooks(self, "step_post"), *_for_all["step_post"].values()):
        hook(self, args, kwargs)
    return out


def _with_hooks(step: Any) -> Any:
    """step() of a class with its hooks; within step() of a derived class it is as it was."""
    @functools.wraps(step)
    def with_hooks(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _call(step, self, args, kwargs) if type(self).step is with_hooks else step(self, *args, **kwargs)

    return with_hooks


def _see_steps(self: Any) -> None:
    """Lets step() of C++ call hooks, and note that it was called. Until then it runs no Python."""
    if isinstance(self, _NATIVE) and getattr(type(self).step, "__wrapped__", Optimizer.step) is Optimizer.step:
        reference = weakref.ref(self)
        self.__dict__["step"] = lambda *args, **kwargs: _call(Optimizer.step, reference(), args, kwargs)


def _init_subclass(cls: Any, **kwargs: Any) -> None:
    super(Optimizer, cls).__init_subclass__(**kwargs)
    if "step" in cls.__dict__:
        cls.step = _with_hooks(cls.__dict__["step"])
    if Optimizer in cls.__bases__ and "zero_grad" not in cls.__dict__:
        cls.zero_grad = _zero_grad


# --- Copies and text

def _made_again(cls: Any, groups: Any) -> Any:
    out = cls.__new__(cls)
    if groups is not None:
        native: Any = next(base for base in cls.__mro__ if base in _NATIVE)
        native.__init__(out, groups, lr=groups[0]["lr"])
    return out


def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
    attributes = {name: value for name, value in self.__dict__.items() if not name.startswith("_optimizer_") and name != "step"}
    if not _is_own(self):
        groups = [dict(group.items()) for group in self.param_groups]
        return _made_again, (type(self), groups), (attributes, _cpp_state_dict(self))
    for name in ("_own_groups", "_own_state", "_own_defaults", "_other_options", "_cpp_has_groups"):
        attributes.pop(name, None)
    return _made_again, (type(self), None), {**attributes, "defaults": self.defaults, "state": self.state,
                                             "param_groups": self.param_groups}


def __setstate__(self: Any, state: Any) -> None:
    if not _is_own(self):
        attributes, tensors = state
        self.__dict__.update(attributes)
        _load_flat(self, tensors)
        return
    for name, value in state.items():
        setattr(self, name, value)


def __repr__(self: Any) -> str:
    lines = [f"{type(self).__name__} ("]
    for i, group in enumerate(self.param_groups):
        lines.append(f"Parameter Group {i}")
        lines += [f"    {key}: {value}" for key, value in sorted(group.items(), key=lambda item: item[0]) if key != "params"]
    return "\n".join(lines + [")"])


setattr(Optimizer, "__init_subclass__", classmethod(_init_subclass))  # type: ignore[arg-type]
setattr(Optimizer, "state", property(state, _set_state))
setattr(Optimizer, "param_groups", property(_param_groups, _set_param_groups))
setattr(Optimizer, "defaults", property(_defaults, _set_defaults))
for _function in (__init__, __reduce_ex__, __setstate__, __repr__, add_param_group, state_dict, load_state_dict,
                  register_step_pre_hook, register_step_post_hook, register_state_dict_pre_hook, register_state_dict_post_hook,
                  register_load_state_dict_pre_hook, register_load_state_dict_post_hook):
    setattr(Optimizer, _function.__name__, _function)
