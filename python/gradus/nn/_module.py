"""What every module does in Python's way: hooks, text, copies. The state is C++'s."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

from .. import _gradus
from .._gradus._nn import Module

_call_python = Module.__call__


def _is_python(module: Module) -> bool:
    """Whether forward() is Python's."""
    return type(module).__call__ is _call_python


class _HookHandle:
    """What register_forward_hook() returns: remove() takes the hook away."""

    def __init__(self, remove: Callable[[], Any]) -> None:
        self._remove: Callable[[], Any] | None = remove

    def remove(self) -> None:
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __enter__(self) -> _HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


_numbers = itertools.count()


def _add_hook(module: Module, kind: str, hook: Callable[..., Any]) -> _HookHandle:
    hooks = module.__dict__.setdefault(f"_{kind}s", {})
    number = next(_numbers)
    hooks[number] = hook
    return _HookHandle(lambda: hooks.pop(number, None))


def register_forward_pre_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, args) before forward(). What it returns takes the place of args."""
    if _is_python(self):
        return _add_hook(self, "forward_pre_hook", hook)
    number = self._add_forward_pre_hook(hook)
    return _HookHandle(lambda: self._remove_forward_pre_hook(number))


def register_forward_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, args, output) after forward(). What it returns takes the place of output."""
    if _is_python(self):
        return _add_hook(self, "forward_hook", hook)
    number = self._add_forward_hook(hook)
    return _HookHandle(lambda: self._remove_forward_hook(number))


def _call(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Calls forward() between the hooks."""
    hooks = self.__dict__.get("_forward_pre_hooks")
    for hook in list(hooks.values()) if hooks else ():
        result = hook(self, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    output = self.forward(*args, **kwargs)
    hooks = self.__dict__.get("_forward_hooks")
    for hook in list(hooks.values()) if hooks else ():
        result = hook(self, args, output)
        if result is not None:
            output = result
    return output


def forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


def _init_subclass(cls: type[Module], **kwargs: Any) -> None:
    # A class of Python that derives from a layer of C++ may have a forward() of its own.
    if "forward" in cls.__dict__ and "__call__" not in cls.__dict__:
        setattr(cls, "__call__", _call_python)


def extra_repr(self: Module) -> str:
    """The options, as the text of the module shows them."""
    if _is_python(self) or not hasattr(type(self), "_options"):
        return ""
    return ", ".join(f"{name}={value!r}" for name, value in self._options().items())


def __repr__(self: Module) -> str:
    lines: list[str] = []
    for name, child in self.named_children():
        lines += f"({name}): {child!r}".split("\n")
    name, extra = type(self).__name__, self.extra_repr()
    if not lines:
        return f"{name}({extra})"
    return f"{name}({extra}\n  " + "\n  ".join(lines) + "\n)"


def apply(self: Module, fn: Callable[[Module], Any]) -> Module:
    """Calls fn for every module below and then for this one, and returns this one."""
    for child in self.children():
        child.apply(fn)
    fn(self)
    return self


def get_submodule(self: Module, target: str) -> Module:
    """The module below of that name: "layers.0"."""
    for name in target.split(".") if target else ():
        self = dict(self.named_children())[name]
    return self


def _own_state(self: Module) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and registered tensors of this module alone, by name."""
    state = dict(self.__dict__)
    registered: dict[str, Any] = dict(self.named_parameters(recurse=False))
    registered.update(self.named_children())
    state.update({name: value for name, value in registered.items() if name not in state})
    return state, dict(self.named_buffers(recurse=False))


def __deepcopy__(self: Module, memo: dict[int, Any]) -> Any:
    if not _is_python(self):
        out = self.clone()
        memo[id(self)] = out
        out.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return out.train(self.training)
    out = type(self).__new__(type(self))
    Module.__init__(out)
    memo[id(self)] = out
    state, buffers = _own_state(self)
    __setstate__(out, copy.deepcopy((state, buffers, self.training), memo))
    return out


def _made_again(cls: Any, options: dict[str, Any] | None) -> Any:
    out = cls.__new__(cls)
    if options is None:
        Module.__init__(out)
    else:
        cls.__init__(out, **options)
    return out


def __reduce_ex__(self: Module, protocol: Any) -> tuple[Any, ...]:
    if _is_python(self):
        return _made_again, (type(self), None), (*_own_state(self), self.training)
    return _made_again, (type(self), self._options()), (self.__dict__, self.state_dict(), self.training)


def __setstate__(self: Module, state: tuple[dict[str, Any], dict[str, Any], bool]) -> None:
    attributes, tensors, training = state
    if not _is_python(self):
        self.__dict__.update(attributes)
        self.load_state_dict(tensors)
    else:
        for name, value in attributes.items():
            setattr(self, name, value)
        for name, value in tensors.items():
            self.register_buffer(name, value)
    Module.train(self, training)


setattr(Module, "__init_subclass__", classmethod(_init_subclass))
for _function in (_call, register_forward_pre_hook, register_forward_hook, forward, extra_repr,
                  __repr__, apply, get_submodule, __deepcopy__, __reduce_ex__, __setstate__):
    setattr(Module, _function.__name__, _function)
