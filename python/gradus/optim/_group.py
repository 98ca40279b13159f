"""A group of parameters of an optimizer of C++, as a dictionary of Python."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _gradus
from .._gradus._optim import ParamGroup

_native_option = ParamGroup.__getitem__


class _Fixed(list[Any]):
    """What C++ has, as a list that cannot be changed."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _gradus.TypeError("param_groups: the groups and the parameters of an optimizer of C++ stay as they are; "
                                "add others with add_param_group()")

    append: Any = _refuse
    extend = insert = pop = remove = clear = sort = reverse = __setitem__ = __delitem__ = __iadd__ = __imul__ = append

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return list, (list(self),)


def __getitem__(self: Any, key: str) -> Any:
    return _Fixed(_native_option(self, key)) if key == "params" else _native_option(self, key)


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
for _method in (__getitem__, get, items, values, update, setdefault):
    setattr(ParamGroup, _method.__name__, _method)
