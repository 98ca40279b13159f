"""The hooks of optimizers: lists of functions by kind, and those of states."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..nn._module import _HookHandle

_numbers = itertools.count()


def _hooks(self: Any, kind: str) -> tuple[Any, ...]:
    return tuple(self.__dict__.get(f"_optimizer_{kind}_hooks", {}).values())


def _add_hook(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> _HookHandle:
    number = next(_numbers)
    others = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[number] = hook
    hooks.update(others)
    return _HookHandle(lambda: hooks.pop(number, None))


def _hooks_to_add_to(self: Any, kind: str) -> Any:
    return self.__dict__.setdefault(f"_optimizer_{kind}_hooks", {})


def register_state_dict_pre_hook(self: Any, hook: Callable[[Any], None], prepend: bool = False) -> _HookHandle:
    """Calls hook(optimizer) before each state_dict(). prepend: before the hooks that are there."""
    return _add_hook(_hooks_to_add_to(self, "state_dict_pre"), hook, prepend)


def register_state_dict_post_hook(self: Any, hook: Callable[[Any, Any], Any], prepend: bool = False) -> _HookHandle:
    """Calls hook(optimizer, state_dict) after each state_dict(). It may return another one in its place."""
    return _add_hook(_hooks_to_add_to(self, "state_dict_post"), hook, prepend)


def register_load_state_dict_pre_hook(self: Any, hook: Callable[[Any, Any], Any], prepend: bool = False) -> _HookHandle:
    """Calls hook(optimizer, state_dict) before each load_state_dict(). It may return another one in its place."""
    return _add_hook(_hooks_to_add_to(self, "load_state_dict_pre"), hook, prepend)


def register_load_state_dict_post_hook(self: Any, hook: Callable[[Any], None], prepend: bool = False) -> _HookHandle:
    """Calls hook(optimizer) after each load_state_dict()."""
    return _add_hook(_hooks_to_add_to(self, "load_state_dict_post"), hook, prepend)
