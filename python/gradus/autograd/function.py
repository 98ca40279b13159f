"""Function: an operation with a derivative of its own, under the names of torch.autograd.function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _gradus
from .._modes import no_grad


class Function:
    """A function with a derivative of its own.

    A class derives from it and has two static methods: forward(ctx, *args), and
    backward(ctx, *grad_outputs), which returns a gradient, or None, for each argument of forward.

    >>> import gradus
    >>> class Cube(gradus.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, = ctx.saved_tensors
    ...         return grad * 3 * x ** 2
    >>> x = gradus.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method backward(ctx, *grad_outputs)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Calls forward without recording it, and records backward in its place.

        Arguments by name come at their place. setup_context gets the defaults of those that are left out, too.
        """
        forward: Any = cls.forward
        before = () if hasattr(cls, "setup_context") else (None,)  # the place of ctx
        if kwargs or not before and forward.__defaults__:
            args = _bound(forward, *before, *args, **kwargs)[len(before):]
        return _gradus._apply_function(cls, *args)


def _bound(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """All arguments of a call of the function by place, with the defaults of those that are left out."""
    import inspect

    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


class _Once(Function):
    """The same tensors, which cannot be differentiated."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        return tuple(x.view_as(x) for x in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a backward() whose results have no derivative: differentiating them is an error."""
    @functools.wraps(fn)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            results = fn(ctx, *grads)
        if not _gradus.is_grad_enabled() or not any(isinstance(g, _gradus.Tensor) and g.requires_grad for g in grads):
            return results
        listed = list(results) if isinstance(results, tuple) else [results]
        places = [i for i, x in enumerate(listed) if isinstance(x, _gradus.Tensor)]
        for place, x in zip(places, _Once.apply(*(listed[i].detach().requires_grad_() for i in places))):
            listed[place] = x
        return tuple(listed) if isinstance(results, tuple) else listed[0]

    return wrapper
