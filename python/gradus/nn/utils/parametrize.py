"""Parameters that are functions of others, under the names of torch.nn.utils.parametrize."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ... import _gradus
from ..._modes import no_grad
from .. import Module, ModuleDict, ModuleList, Parameter
from ._computed import put, put_back, take_out

_cache: dict[tuple[int, str], Any] | None = None


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """A parametrized tensor is computed once in the `with` block."""
    global _cache
    before, _cache = _cache, _cache if _cache is not None else {}
    try:
        yield
    finally:
        _cache = before


def _registered(holder: Module, name: str, tensor: Any, trained: bool) -> None:
    if trained:
        holder.register_parameter(name, tensor if isinstance(tensor, Parameter) else Parameter(tensor))
    else:
        holder.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The functions of one tensor, in the order of their calls, and what they begin with: original, or original0, ..."""

    def __init__(self, modules: Sequence[Module], original: Any) -> None:
        super().__init__(modules)
        trained = isinstance(original, Parameter)
        value = original.detach()
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    value = module.right_inverse(value)
        self.is_tensor = isinstance(value, _gradus.Tensor)
        if self.is_tensor:
            if value.shape == original.shape and value.dtype is original.dtype:
                original.data = value  # the optimizers that have it keep it
                value = original
            _registered(self, "original", value, trained)
        else:
            self.ntensors = len(value)
            for i, each in enumerate(value):
                _registered(self, f"original{i}", each, trained)

    def _originals(self) -> tuple[Any, ...]:
        return (self.original,) if self.is_tensor else tuple(getattr(self, f"original{i}") for i in range(self.ntensors))

    def right_inverse(self, value: Any) -> None:
        """Gives the originals values for which the functions return this one."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise _gradus.NotImplementedError(f"{type(module).__name__} has no right_inverse; define one so that "
                                                      "the tensor can be assigned")
                value = module.right_inverse(value)
            for original, new in zip(self._originals(), (value,) if self.is_tensor else value):
                original.data = new.detach().clone()

    def forward(self) -> Any:
        """The tensor."""
        modules = iter(self)
        out = next(modules)(*self._originals())
        for module in modules:
            out = module(out)
        return out


def _computed(module: Module, name: str) -> Any:
    made = module.parametrizations[name]
    if _cache is None:
        return made()
    key = (id(module), name)
    if key not in _cache:
        _cache[key] = made()
    return _cache[key]


def _put_all(module: Module, args: Any) -> None:
    """Before a call: a module of C++ computes with the tensors of now."""
    for name in module.parametrizations:
        _gradus._nn._set_member(module, name, _computed(module, name))


def _parametrized_class(module: Module) -> None:
    cls = type(module)
    made = type("Parametrized" + cls.__name__, (cls,), {"__module__": cls.__module__, "_without_parametrizations": cls})
    module.__class__ = made


def _add_property(module: Module, name: str) -> None:
    def set_(self: Module, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(lambda self: _computed(self, name), set_))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *,
                             unsafe: bool = False) -> Module:
    """module's tensor of that name becomes parametrization(original); further ones are called on the result.

    Assigning the tensor calls right_inverse. unsafe: the result may have another shape or dtype.
    Errors: ValueError where it has, and where the module has no such tensor.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        before = getattr(module, tensor_name)
        held = module.parametrizations[tensor_name]
        if not unsafe and parametrization(before).shape != before.shape:
            raise _gradus.ValueError(f"register_parametrization: {tensor_name} would have another shape; "
                                     "expected a function that keeps it, or unsafe=True")
        held.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            held.right_inverse(before)
        return module
    original = {**module._buffers, **module._parameters}.get(tensor_name)
    if original is None:
        raise _gradus.ValueError(f"register_parametrization: {type(module).__name__} has no parameter or buffer {tensor_name}")
    shape, dtype = original.shape, original.dtype
    held = ParametrizationList([parametrization], original.detach().clone() if not isinstance(original, Parameter)
                               else original)
    made = held()
    if not unsafe and (made.shape != shape or made.dtype is not dtype):
        raise _gradus.ValueError(f"register_parametrization: {tensor_name} has shape {list(shape)} and {dtype}, and the function "
                                 f"returns {list(made.shape)} and {made.dtype}; expected the same, or unsafe=True")
    take_out(module, tensor_name)
    if not is_parametrized(module):
        _parametrized_class(module)
        module.parametrizations = ModuleDict()
        module._parametrization_hook = module.register_forward_pre_hook(_put_all)
    module.parametrizations[tensor_name] = held
    _add_property(module, tensor_name)
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or that of the name, is parametrized."""
    held = module._modules.get("parametrizations")
    return isinstance(held, ModuleDict) and (len(held) > 0 if tensor_name is None else tensor_name in held)


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """The tensor is a parameter again: with its present value, or with leave_parametrized=False the original one."""
    if not is_parametrized(module, tensor_name):
        raise _gradus.ValueError(f"remove_parametrizations: {tensor_name} of {type(module).__name__} is not parametrized")
    held = module.parametrizations[tensor_name]
    if not leave_parametrized and not held.is_tensor:
        raise _gradus.ValueError("remove_parametrizations: there are several originals; expected leave_parametrized=True")
    kept = held.original if held.is_tensor else held.original0
    if leave_parametrized:
        with no_grad():
            value = held().detach().clone()
        if held.is_tensor and isinstance(kept, Parameter):
            kept.data = value
        else:
            kept = Parameter(value) if isinstance(kept, Parameter) else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(kept, Parameter):
        put_back(module, tensor_name, kept)
    else:
        module.register_buffer(tensor_name, kept)
        put(module, tensor_name, kept)
        module.__dict__.pop(tensor_name, None)
    if not is_parametrized(module):
        module._parametrization_hook.remove()
        del module.parametrizations, module._parametrization_hook
        module.__class__ = type_before_parametrizations(module)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of the module without its parametrizations."""
    cls: type = getattr(type(module), "_without_parametrizations", type(module))
    return cls
