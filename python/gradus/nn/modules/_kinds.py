"""Classes that isinstance() knows, for layers that have no common base."""

from __future__ import annotations

from typing import Any


class Kind(type):
    """A class whose objects are those of the classes in `_of`."""

    _of: tuple[Any, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._of)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._of)
