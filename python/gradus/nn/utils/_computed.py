"""Tensors that a module computes with and that are no parameters of it: each call makes them anew."""

from __future__ import annotations

from typing import Any

from ... import _gradus
from ..._gradus._nn import Module
from .._module import _keeps_weights


def take_out(module: Module, name: str) -> Any:
    """The parameter or buffer of that name, which the module has no more.

    Errors: NotImplementedError for a recurrent layer, which keeps its own; ValueError where there is none.
    """
    if _keeps_weights(module, name):
        raise _gradus.NotImplementedError(
            f"{type(module).__name__} computes with its own {name}; expected a layer without a recurrence")
    found = {**module._buffers, **module._parameters}
    if name not in found:
        raise _gradus.ValueError(f"{type(module).__name__} has no parameter or buffer {name}; "
                                 f"expected one of {', '.join(found)}")
    delattr(module, name)
    return found[name]


def put(module: Module, name: str, tensor: Any) -> None:
    """Makes the module compute with a tensor, which is also its attribute."""
    _gradus._nn._set_member(module, name, tensor)
    module.__dict__[name] = tensor
    module.__dict__.setdefault("_computed", set()).add(name)


def put_back(module: Module, name: str, parameter: Any) -> None:
    """Registers a parameter under a name that put() was given."""
    module.__dict__.pop(name, None)
    module.__dict__.get("_computed", set()).discard(name)
    module.register_parameter(name, parameter)
    _gradus._nn._set_member(module, name, parameter)
