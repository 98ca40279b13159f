"""Optimizers, under the names of torch.optim."""

from __future__ import annotations

from typing import Any

from .._gradus._optim import *  # noqa: F403
from .._gradus._optim import Optimizer as Optimizer, ParamGroup as ParamGroup
from . import lr_scheduler as lr_scheduler


def _made_again(cls, groups: Any) -> Any:
    return cls(groups, lr=groups[0]["lr"])


def __reduce_ex__(self, protocol: Any) -> Any:
    groups = [dict(group.items()) for group in self.param_groups]
    return _made_again, (type(self), groups), (self.__dict__, self.state_dict())


def __setstate__(self, state: Any) -> None:
    attributes, tensors = state
    self.__dict__.update(attributes)
    self.load_state_dict(tensors)


def __repr__(self) -> Any:
    lines = [f"{type(self).__name__} ("]
    for i, group in enumerate(self.param_groups):
        lines.append(f"Parameter Group {i}")
        lines += [f"    {key}: {value}" for key, value in group.items() if key != "params"]
    return "\n".join(lines + [")"])


for _function in (__reduce_ex__, __setstate__, __repr__):
    setattr(Optimizer, _function.__name__, _function)


# A group is read as a dictionary.
def get(self, key: Any, default: Any = None) -> Any:
    """The option of that name, or the default."""
    return self[key] if key in self else default


def items(self) -> Any:
    """The pairs of names and values."""
    return [(key, self[key]) for key in self.keys()]


def values(self) -> Any:
    """The values of all options."""
    return [self[key] for key in self.keys()]


def update(self, other: Any = (), **options: Any) -> None:
    """Sets options by name."""
    for key, value in dict(other, **options).items():
        self[key] = value


def __contains__(self: Any, key: Any) -> bool:
    return key in self.keys()


def __iter__(self: Any) -> Any:
    return iter(self.keys())


def __len__(self: Any) -> int:
    return len(self.keys())


def _group_text(self: Any) -> str:
    return repr(dict(self.items()))


setattr(ParamGroup, "__repr__", _group_text)
for _function in (get, items, values, update, __contains__, __iter__, __len__):
    setattr(ParamGroup, _function.__name__, _function)
del get, items, values, update
