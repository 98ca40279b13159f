"""What every module does in Python's way: hooks, text, copies. The state is C++'s."""

from __future__ import annotations

import collections
import copy
import itertools
from collections.abc import Callable
from typing import Any

from .. import _gradus, autograd
from .._gradus import _nn
from .._gradus._nn import Module
from ._texts import module_text, options_text
from .parameter import Parameter

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


def _hooks(module: Module, kind: str) -> dict[int, Any]:
    """The hooks of a kind (forward or forward_pre) by number, in the order of their calls."""
    hooks: dict[int, Any] = module.__dict__.setdefault(f"_{kind}_hooks", collections.OrderedDict())
    return hooks


def _with_kwargs(module: Module, kind: str) -> set[int]:
    """The numbers of the hooks that are given keywords, too."""
    numbers: set[int] = module.__dict__.setdefault(f"_{kind}_hooks_with_kwargs", set())
    return numbers


def _add_hook(module: Module, kind: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool) -> _HookHandle:
    hooks = _hooks(module, kind)
    if not _is_python(module) and not module.__dict__.get(f"_calls_{kind}_hooks"):
        _let_cpp_call(module, kind)
    number = next(_numbers)
    hooks[number] = hook
    if prepend:
        hooks.move_to_end(number, last=False)  # type: ignore[attr-defined]
    if with_kwargs:
        _with_kwargs(module, kind).add(number)
    return _HookHandle(lambda: hooks.pop(number, None))


def _let_cpp_call(module: Module, kind: str) -> None:
    """Makes a module of C++ call the hooks of the kind where another module of C++ calls it."""
    if kind == "forward":
        module._add_forward_hook(_run_hooks)
    else:
        module._add_forward_pre_hook(lambda called, args: _run_pre_hooks(called, args, {})[0])
    module.__dict__[f"_calls_{kind}_hooks"] = True


def _run_pre_hooks(module: Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
    hooks = module.__dict__.get("_forward_pre_hooks")
    for number, hook in list(hooks.items()) if hooks else ():
        if number in module.__dict__.get("_forward_pre_hooks_with_kwargs", ()):
            result = hook(module, args, kwargs)
            if result is not None:
                args, kwargs = result
        else:
            result = hook(module, args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
    return args, kwargs


def _run_hooks(module: Module, args: Any, output: Any, kwargs: Any = {}) -> Any:
    hooks = module.__dict__.get("_forward_hooks")
    for number, hook in list(hooks.items()) if hooks else ():
        keywords = number in module.__dict__.get("_forward_hooks_with_kwargs", ())
        result = hook(module, args, kwargs, output) if keywords else hook(module, args, output)
        if result is not None:
            output = result
    return output


def register_forward_pre_hook(self: Module, hook: Callable[..., Any], *, prepend: bool = False,
                              with_kwargs: bool = False) -> _HookHandle:
    """Calls hook(module, args) before forward(). What it returns takes the place of args.

    prepend: it is called before the hooks that are there. with_kwargs: hook(module, args, kwargs), which returns both.
    """
    return _add_hook(self, "forward_pre", hook, prepend, with_kwargs)


def register_forward_hook(self: Module, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
                          always_call: bool = False) -> _HookHandle:
    """Calls hook(module, args, output) after forward(). What it returns takes the place of output.

    prepend: it is called before the hooks that are there. with_kwargs: hook(module, args, kwargs, output).
    """
    return _add_hook(self, "forward", hook, prepend, with_kwargs)


def _call(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Calls forward() between the hooks."""
    args, kwargs = _run_pre_hooks(self, args, kwargs)
    return _run_hooks(self, args, self.forward(*args, **kwargs), kwargs)


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
    cls = _class_of_cpp(type(self))
    return "" if cls is None else options_text(cls.__name__, self._options(), self._defaults())


def __repr__(self: Module) -> str:
    children = [(name, repr(child)) for name, child in self.named_children()]
    return module_text(type(self).__name__, self.extra_repr(), children)


def apply(self: Module, fn: Callable[[Module], Any]) -> Module:
    """Calls fn for every module below and then for this one, and returns this one."""
    for child in dict.fromkeys(self.children()):
        child.apply(fn)
    fn(self)
    return self


# C++'s own, for which Python has others.
_register_buffer, _register_parameter = Module.register_buffer, Module.register_parameter
_named_modules: Any = Module.named_modules
_named_parameters, _named_buffers = Module.named_parameters, Module.named_buffers
_state_dict, _load_state_dict = Module.state_dict, Module.load_state_dict


class _Mark(autograd.Function):
    """The same tensors; their gradients are shown to a function, which may replace them."""

    @staticmethod
    def forward(ctx: Any, seen: Any, *tensors: Any) -> Any:
        ctx.seen = seen
        out = tuple(x.view_as(x) for x in tensors)
        return out[0] if len(out) == 1 else out

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.seen(grads))


def _marked(values: Any, seen: Any) -> Any:
    """The values, of which those with a gradient are marked; None where there is none."""
    places = [i for i, x in enumerate(values) if isinstance(x, _gradus.Tensor) and x.requires_grad]
    if not places:
        return None

    def with_places(grads: Any) -> Any:
        all_grads: list[Any] = [None] * len(values)
        for place, grad in zip(places, grads):
            all_grads[place] = grad
        result = seen(tuple(all_grads))
        if result is None:
            return grads
        result = result if isinstance(result, tuple) else (result,)
        return tuple(result[place] for place in places)

    marked = _Mark.apply(with_places, *(values[i] for i in places))
    out = list(values)
    for place, x in zip(places, marked if isinstance(marked, tuple) else (marked,)):
        out[place] = x
    return tuple(out)


def _marked_output(output: Any, seen: Any) -> Any:
    """A tensor or a tuple of tensors, marked; None for anything else, whose gradients nobody sees."""
    if isinstance(output, _gradus.Tensor):
        marked = _marked((output,), seen)
        return marked and marked[0]
    return _marked(output, seen) if isinstance(output, (tuple, list)) else None


def register_full_backward_hook(self: Module, hook: Callable[..., Any]) -> _HookHandle:
    """Calls hook(module, grad_input, grad_output) when the gradients of the inputs are ready.

    What it returns takes the place of grad_input.
    """
    calls: list[Any] = []

    def before(module: Any, args: Any) -> Any:
        call: dict[str, Any] = {}
        calls.append(call)
        marked = _marked(args, lambda grads: hook(module, grads, call["grads"]) if "grads" in call else None)
        call["inputs"] = None if marked else len(args)
        return marked

    def after(module: Any, args: Any, output: Any) -> Any:
        call = calls.pop()

        def seen(grads: Any) -> None:
            call["grads"] = grads
            if call["inputs"] is not None:  # no input has a gradient
                hook(module, (None,) * call["inputs"], grads)

        return _marked_output(output, seen)

    first, second = self.register_forward_pre_hook(before), self.register_forward_hook(after)
    hooks = _hooks(self, "forward")
    for number in [number for number, each in hooks.items() if getattr(each, "_sees_first", False)]:
        hooks.move_to_end(number)  # type: ignore[attr-defined]
    return _HookHandle(lambda: (first.remove(), second.remove()))


def register_full_backward_pre_hook(self: Module, hook: Callable[..., Any], prepend: bool = False) -> _HookHandle:
    """Calls hook(module, grad_output) when the gradients of the output are ready.

    What it returns takes the place of grad_output.
    """
    def after(module: Any, args: Any, output: Any) -> Any:
        return _marked_output(output, lambda grads: hook(module, grads))

    setattr(after, "_sees_first", True)  # the last marked is the first with a gradient
    return self.register_forward_hook(after)


def type_(self: Module, dst_type: Any) -> Any:
    """Converts floating point parameters and buffers to a dtype."""
    return self.to(dst_type)


def _declared(self: Module) -> dict[str, str]:
    """What Python has registered by name and what kind it is; it may be None, which C++ does not list."""
    def is_registered(name: str, kind: str) -> bool:
        if name not in self.__dict__:
            return hasattr(self, name)
        return kind == "parameter" and isinstance(self.__dict__[name], (Parameter, type(None)))

    return {name: kind for name, kind in self.__dict__.get("_declared", {}).items() if is_registered(name, kind)}


def _own_attributes(self: Module) -> dict[str, Any]:
    declared = _declared(self)
    return {**self.__dict__, "_declared": declared} if declared else dict(self.__dict__)


def _own_state(self: Module) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and registered tensors of this module alone, by name."""
    return {**self._parameters, **self._modules, **_own_attributes(self)}, dict(self._buffers)


def _class_of_cpp(cls: Any) -> Any:
    """The class of C++ that a class is or derives from; None where its state is Python's alone."""
    return next((each for each in cls.__mro__ if "_options" in vars(each)), None)


def __deepcopy__(self: Module, memo: dict[int, Any]) -> Any:
    cls = type(self)
    if _class_of_cpp(cls) is None and not _is_python(self):  # C++ alone can make one
        out = self.clone()
        memo[id(self)] = out
        out.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return out.train(self.training)
    make, arguments, state = self.__reduce_ex__(4)
    out = memo[id(self)] = make(*arguments)
    __setstate__(out, copy.deepcopy(state, memo))
    return out


def _made_again(cls: Any, options: dict[str, Any] | None) -> Any:
    out = cls.__new__(cls)
    base = _class_of_cpp(cls)
    if base is None:
        Module.__init__(out)
    else:
        base.__init__(out, **(options or {}))
    return out


def __reduce_ex__(self: Module, protocol: Any) -> tuple[Any, ...]:
    if _class_of_cpp(type(self)) is None:
        return _made_again, (type(self), None), (*_own_state(self), self.training)
    # All tensors below, since the parts of a module of C++ are made with it. What a hook computes is made anew.
    computed = self.__dict__.get("_computed", ())
    attributes = {name: value.detach() if name in computed else value for name, value in _own_attributes(self).items()}
    state = attributes, dict(self.named_parameters()), dict(_named_buffers(self)), self.training
    return _made_again, (type(self), self._options()), state


def _register(module: Module, names: dict[str, Any], method: Callable[..., Any]) -> None:
    for name, value in names.items():
        path, _, own = name.rpartition(".")
        part = module.get_submodule(path)
        if _keeps_weights(part, own):
            part.get_parameter(own).requires_grad_(value.requires_grad).data.copy_(value.detach())
        else:
            method(part, own, value)


def _keeps_weights(module: Module, name: str) -> bool:
    """Whether the layer computes with the tensor that it was made with, whatever is registered."""
    return isinstance(module, (_nn.RNN, _nn.LSTM, _nn.GRU)) and name in module._parameters and \
        name.startswith(("weight_", "bias_"))


_set_attribute = Module.__setattr__


def _set_of_recurrence(self: Module, name: str, value: Any) -> None:
    if isinstance(value, _gradus.Tensor) and _keeps_weights(self, name):
        raise _gradus.NotImplementedError(
            f"{type(self).__name__}: its parameter {name} cannot be replaced; "
            f"expected new values: {name}.data.copy_(...)")
    _set_attribute(self, name, value)


for _class in (_nn.RNN, _nn.LSTM, _nn.GRU):
    setattr(_class, "__setattr__", _set_of_recurrence)


def __setstate__(self: Module, state: tuple[Any, ...]) -> None:
    attributes, *parameters, buffers, training = state
    for name, _ in list(self.named_parameters(recurse=False)) if parameters else ():
        if name not in parameters[0] and (name in attributes or isinstance(getattr(type(self), name, None), property)):
            delattr(self, name)  # it is computed
    for name, kind in attributes.get("_declared", {}).items():
        register: Any = _register_buffer if kind == "buffer" else _register_parameter
        register(self, name, None)
    for name, value in attributes.items():
        if not (name.startswith("_calls_") and name.endswith("_hooks")):
            setattr(self, name, value)
    for kind in ("forward_pre", "forward"):
        if self.__dict__.get(f"_{kind}_hooks") and not _is_python(self):
            _let_cpp_call(self, kind)
    if parameters:
        left_out = {name: None for name, _ in self.named_parameters() if name not in parameters[0]}
        _register(self, {**parameters[0], **left_out}, _register_parameter)
    _register(self, buffers, _register_buffer)
    Module.train(self, training)


setattr(Module, "__init_subclass__", classmethod(_init_subclass))
for _function in (_call, register_forward_pre_hook, register_forward_hook,
                  register_full_backward_hook, register_full_backward_pre_hook, forward, extra_repr, __repr__,
                  apply, __deepcopy__, __reduce_ex__, __setstate__):
    setattr(Module, _function.__name__, _function)
setattr(Module, "type", type_)


def all_weights(self: Module) -> list[list[Any]]:
    """The parameters of a recurrent layer: a list for each layer and direction."""
    out: dict[str, list[Any]] = {}
    for name, parameter in self._parameters.items():
        out.setdefault(name[name.rindex("_l"):], []).append(parameter)
    return list(out.values())


for _class in (_nn.RNN, _nn.LSTM, _nn.GRU):
    setattr(_class, "all_weights", property(all_weights))
