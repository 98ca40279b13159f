"""fuse and vectorize: one kernel of a chain of operations on tensors, or of a function of numbers."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _gradus

if TYPE_CHECKING:
    from ._vectorize import Vectorized

_MOST_CONSTANTS = 64  # kinds of arguments that are no tensors, for each function


class Fused:
    """A function made by fuse()."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._kinds: collections.OrderedDict[Any, _Kind] = collections.OrderedDict()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with tensors of one device. Other arguments are constants of the kernel."""
        tensors, constants = [], []
        for place in (*range(len(args)), *sorted(kwargs)):
            value = args[place] if isinstance(place, int) else kwargs[place]
            if isinstance(value, _gradus.Tensor):
                tensors.append(value)
            constants.append((place, None if isinstance(value, _gradus.Tensor) else (type(value), value)))
        if not tensors:
            return self._function(*args, **kwargs)
        results, one = self._kind(tuple(constants))(tensors)
        return results[0] if one else results

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def _kind(self, constants: Any) -> _Kind:
        try:
            kind = self._kinds.get(constants)
        except TypeError:
            raise _gradus.TypeError(
                f"fuse: {self.__name__} is given an argument that cannot be hashed; expected tensors, "
                "numbers, texts and tuples of them") from None
        if kind is None:
            kind = self._kinds[constants] = _Kind(self._function, constants)
            if len(self._kinds) > _MOST_CONSTANTS:
                self._kinds.popitem(last=False)
        self._kinds.move_to_end(constants)
        return kind

    def source(self) -> str:
        """The kernels that were made so far, as CUDA C++."""
        return "".join(kind.fused.source() for kind in self._kinds.values())

    def why_not(self) -> str:
        """Why the last call that could not be fused was not; empty where every call was."""
        for kind in reversed(self._kinds.values()):
            if kind.fused.why_not():
                return kind.fused.why_not()
        return ""


class _Kind:
    """A fused function for certain constants."""

    def __init__(self, function: Callable[..., Any], constants: Any) -> None:
        self.fused = _gradus._FusedFunction()
        self._function, self._constants, self._one = function, constants, True

    def __call__(self, tensors: list[_gradus.Tensor]) -> Any:
        return self.fused.call(tensors, self._traced), self._one

    def _traced(self, given: Any) -> Any:
        rest, args, kwargs = iter(given), [], {}
        for place, constant in self._constants:
            value = next(rest) if constant is None else constant[1]
            if isinstance(place, int):
                args.append(value)
            else:
                kwargs[place] = value
        result = self._function(*args, **kwargs)
        self._one = isinstance(result, _gradus.Tensor)
        return [result] if self._one else result


def fuse(function: Callable[..., Any]) -> Fused:
    """A function that computes what `function` does, with its gradients, in as few kernels as it can.

    The function takes tensors of one device and returns a tensor or a tuple of tensors. It may call
    elementwise operations, casts, where, dropout, views, reductions, softmax, layer_norm and products.
    The first call with tensors of new dtypes, shapes or strides runs it on tensors without data, so it
    must not depend on anything else that changes. Where it does something else it is called unfused;
    a warning and why_not() say the reason. Also a decorator.

    >>> import gradus
    >>> scaled = gradus.fuse(lambda x, y: (x * y + 1).tanh())
    >>> scaled(gradus.zeros(2), gradus.ones(2))
    tensor([0.7616, 0.7616])
    """
    if not callable(function):
        raise _gradus.TypeError(
            f"fuse: expected a function of tensors, and got an object of type {type(function).__name__}")
    return Fused(function)


def vectorize(function: Callable[..., Any]) -> Vectorized:
    """A function of tensors that computes what `function` computes of numbers, as one kernel.

    The function is written in Python: arithmetic, comparisons, names, if, conditional expressions,
    loops over what is no tensor, functions of math and of gradus, and functions of this kind. It has
    gradients as fuse() has them. Both branches of an if are computed. Also a decorator.
    Errors: TypeError where its text is not known; NotImplementedError, at the first call, for what
    else it does.
    """
    from ._vectorize import Vectorized

    return Vectorized(function)
