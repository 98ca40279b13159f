"""Activations that the backward pass computes again, under the names of torch.utils.checkpoint."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from .. import _gradus
from .._modes import enable_grad
from ..autograd import Function
from ._tree import flat

_Context = contextlib.AbstractContextManager[Any]


class _Again(Function):
    @staticmethod
    def forward(ctx: Any, run: Any, contexts: Any, state: Any, made: list[Any], *tensors: Any) -> Any:
        ctx.run, ctx.state = run, state
        now, ctx.context = contexts
        ctx.save_for_backward(*tensors)
        results: list[Any] = []
        with now:
            made.append(flat(run(tensors), results))
        return results[0] if len(results) == 1 else tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = [x.detach().requires_grad_(x.requires_grad) for x in ctx.saved_tensors]
        now = _gradus.default_generator.get_state() if ctx.state is not None else None
        if ctx.state is not None:
            _gradus.default_generator.set_state(ctx.state)
        try:
            with enable_grad(), ctx.context:
                results: list[Any] = []
                flat(ctx.run(inputs), results)
        finally:
            if now is not None:
                _gradus.default_generator.set_state(now)
        pairs = [(out, grad) for out, grad in zip(results, grads) if out.requires_grad and grad is not None]
        _gradus._backward([out for out, _ in pairs], [grad for _, grad in pairs], None, False, None)
        return (None, None, None, None, *(x.grad for x in inputs))


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
               preserve_rng_state: bool = True,
               context_fn: Callable[[], tuple[_Context, _Context]] | None = None,
               determinism_check: str = "default", debug: bool = False, early_stop: bool = True, **kwargs: Any) -> Any:
    """function(*args, **kwargs) that keeps its arguments alone; the backward pass computes it again.

    preserve_rng_state: with the same random numbers. context_fn: returns the context of the first computation, and that of
    the second. use_reentrant, determinism_check, debug, early_stop: taken, without effect.

    >>> import gradus
    >>> from gradus.utils.checkpoint import checkpoint
    >>> x = gradus.ones(2, requires_grad=True)
    >>> checkpoint(gradus.exp, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    tensors: list[Any] = []
    given = flat((args, kwargs), tensors)

    def run(values: Any) -> Any:
        own_args, own_kwargs = given(iter(values))
        return function(*own_args, **own_kwargs)

    if not _gradus.is_grad_enabled():
        return function(*args, **kwargs)
    made: list[Any] = []
    # The parameters of the function have gradients even where no argument has one.
    anchor = _gradus.empty(0, requires_grad=True)
    state = _gradus.default_generator.get_state() if preserve_rng_state else None
    contexts = context_fn() if context_fn is not None else (contextlib.nullcontext(),) * 2
    results = _Again.apply(lambda values: run(list(values)[1:]), contexts, state, made, anchor, *tensors)
    return made[0](iter(results if isinstance(results, tuple) else (results,)))


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None,
                          preserve_rng_state: bool = True) -> Any:
    """A Sequential, or a list of functions, in segments of which each keeps its input alone; the last keeps all."""
    parts = list(functions)
    size = max(1, len(parts) // segments)
    for i in range(segments):
        own = parts[i * size:(i + 1) * size if i + 1 < segments else len(parts)]

        def run(x: Any, own: Any = own) -> Any:
            for part in own:
                x = part(x)
            return x

        input = run(input) if i + 1 == segments else checkpoint(run, input, preserve_rng_state=preserve_rng_state)
    return input
