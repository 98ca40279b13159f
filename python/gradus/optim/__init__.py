"""Optimizers, under the names of torch.optim."""

from __future__ import annotations

import collections
import copy
from typing import Any

from .. import _gradus
from .._gradus._optim import *  # noqa: F403
from .._gradus._optim import Optimizer as Optimizer, ParamGroup as ParamGroup
from . import lr_scheduler as lr_scheduler, swa_utils as swa_utils


def _made_again(cls: Any, groups: list[Any]) -> Any:
    return cls(groups, lr=groups[0]["lr"])


def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
    groups = [dict(group.items()) for group in self.param_groups]
    return _made_again, (type(self), groups), (self.__dict__, _flat_state_dict(self))


def __setstate__(self: Any, state: Any) -> None:
    attributes, tensors = state
    self.__dict__.update(attributes)
    _load_flat(self, tensors)


def __repr__(self: Any) -> str:
    lines = [f"{type(self).__name__} ("]
    for i, group in enumerate(self.param_groups):
        lines.append(f"Parameter Group {i}")
        lines += [f"    {key}: {value}" for key, value in sorted(group.items(), key=lambda item: item[0]) if key != "params"]
    return "\n".join(lines + [")"])


# C++ names each value, as state.0.exp_avg and param_groups.0.lr; Python has dictionaries.
_flat_state_dict, _load_flat = Optimizer.state_dict, Optimizer.load_state_dict


def _parameters(self: Any) -> list[Any]:
    return [parameter for group in self.param_groups for parameter in group["params"]]


def _state(self: Any) -> dict[Any, dict[str, Any]]:
    """The tensors of each parameter's number by name."""
    out: dict[Any, dict[str, Any]] = {}
    if _is_own(self):
        numbers = {parameter: number for number, parameter in enumerate(_parameters(self))}
        return {numbers.get(key, key): value for key, value in self.state.items()}
    for key, value in _flat_state_dict(self).items():
        if key.startswith("state."):
            _, name, field = key.split(".", 2)
            out.setdefault(int(name) if name.isdigit() else name, {})[field] = value
    return out


def state_dict(self: Any) -> dict[str, Any]:
    """state: the tensors by the number of their parameter and by name. param_groups: options, and numbers of parameters."""
    groups, first = [], 0
    for group in self.param_groups:
        count = len(group["params"])
        groups.append({**{key: value for key, value in group.items() if key != "params"},
                       "params": list(range(first, first + count))})
        first += count
    return {"state": _state(self), "param_groups": groups}


def load_state_dict(self: Any, state_dict: Any) -> None:
    """Takes copies of the values of a state dict, also of one by flat names, as a file of C++ has it."""
    if "param_groups" not in state_dict:
        _load_flat(self, state_dict)
        return
    if _is_own(self):
        _load_own(self, state_dict)
        return
    own, flat = _flat_state_dict(self), {}
    for i, group in enumerate(state_dict["param_groups"]):
        of_python = set() if i >= len(self.param_groups) else {"initial_lr", *self.__dict__.get("_other_options", {}).get(i, {})}
        for key, value in group.items():
            name = f"param_groups.{i}.{key}"
            if key in of_python:
                self.param_groups[i][key] = value
                continue
            if key == "params":
                flat.update({f"group_of.{number}": _gradus.tensor(i) for number in value})
            elif isinstance(value, str):
                flat[name] = _gradus.tensor(list(value.encode()), dtype=_gradus.uint8)
            elif isinstance(value, (tuple, list)):
                flat.update({f"{name}.{j}": _gradus.tensor(each, dtype=_gradus.float64) for j, each in enumerate(value)})
            elif value is not None:
                flat[name] = _gradus.tensor(value, dtype=own[name].dtype if name in own else None)
    for number, values in state_dict["state"].items():
        flat.update({f"state.{number}.{field}": value for field, value in values.items()})
    _load_flat(self, {name: value for name, value in flat.items() if name in own or not name.startswith("param_groups.")})


def _is_own(self: Any) -> bool:
    """Whether the algorithm is written in Python, by a class that derives from Optimizer itself."""
    return "_own_defaults" in self.__dict__


def _load_own(self: Any, state_dict: Any) -> None:
    groups, given = self.param_groups, state_dict["param_groups"]
    sizes, wanted = [len(group["params"]) for group in given], [len(group["params"]) for group in groups]
    if sizes != wanted:
        raise _gradus.ValueError(f"load_state_dict: the groups have {sizes} parameters; expected {wanted}, "
                                 "those of this optimizer")
    for group, values in zip(groups, given):
        group.update((key, copy.deepcopy(value)) for key, value in values.items() if key != "params")
    parameters = _parameters(self)
    self.state = collections.defaultdict(dict, {
        parameters[key] if isinstance(key, int) else key: copy.deepcopy(value) for key, value in state_dict["state"].items()})


def _set_state(self: Any, state: Any) -> None:
    if not _is_own(self):
        raise AttributeError(f"the state of {type(self).__name__} is that of C++; use load_state_dict()")
    self.__dict__["_own_state"] = state


def _set_param_groups(self: Any, groups: Any) -> None:
    if not _is_own(self):
        raise AttributeError(f"the groups of {type(self).__name__} are those of C++; use add_param_group()")
    self.__dict__["_own_groups"] = groups


def state(self: Any) -> Any:
    """The tensors of each parameter by name; empty before its first step."""
    if _is_own(self):
        return self.__dict__.setdefault("_own_state", collections.defaultdict(dict))
    parameters = _parameters(self)
    out: Any = collections.defaultdict(dict)
    for number, values in _state(self).items():
        if isinstance(number, int):
            out[parameters[number]] = values
    return out


_param_groups: Any = Optimizer.__dict__["param_groups"]
setattr(Optimizer, "state", property(state, _set_state))
setattr(Optimizer, "param_groups", property(
    lambda self: self.__dict__["_own_groups"] if "_own_groups" in self.__dict__ else _param_groups.__get__(self),
    _set_param_groups, doc="The groups of parameters with their options."))
for _function in (__reduce_ex__, __setstate__, __repr__, state_dict, load_state_dict):
    setattr(Optimizer, _function.__name__, _function)


# A group is read as a dictionary.
def get(self: Any, key: str, default: Any = None) -> Any:
    """The option of that name, or the default."""
    return self[key] if key in self else default


def items(self: Any) -> list[tuple[str, Any]]:
    """The pairs of names and values."""
    return [(key, self[key]) for key in self.keys()]


def values(self: Any) -> list[Any]:
    """The values of all options."""
    return [self[key] for key in self.keys()]


def update(self: Any, other: Any = (), **options: Any) -> None:
    """Sets options by name."""
    for key, value in dict(other, **options).items():
        self[key] = value


def setdefault(self: Any, key: str, default: Any = None) -> Any:
    """The option of that name, which is set to the default where it is not there."""
    if key not in self:
        self[key] = default
    return self[key]


setattr(ParamGroup, "__contains__", lambda self, key: key in self.keys())
setattr(ParamGroup, "__iter__", lambda self: iter(self.keys()))
setattr(ParamGroup, "__len__", lambda self: len(self.keys()))
setattr(ParamGroup, "__repr__", lambda self: repr(dict(self.items())))
for _method in (get, items, values, update, setdefault):
    setattr(ParamGroup, _method.__name__, _method)
