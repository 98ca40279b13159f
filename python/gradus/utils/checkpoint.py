"""Activations that the backward pass computes again, under the names of torch.utils.checkpoint."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import _gradus
from .._gpu_random import get_rng_state_all, set_rng_state_all
from .._gradus._amp import autocast
from .._modes import enable_grad
from ..autograd.graph import saved_tensors_hooks
from ._tree import flat

_Context = contextlib.AbstractContextManager[Any]


def _rng_states(on_gpu: bool) -> tuple[Any, list[Any]]:
    """The states of the generators of the CPU, and of all GPUs where these are asked for."""
    return _gradus.default_generator.get_state(), get_rng_state_all() if on_gpu else []


def _set_rng_states(states: tuple[Any, list[Any]]) -> None:
    _gradus.default_generator.set_state(states[0])
    set_rng_state_all(states[1])


class _Recomputation:
    """What a run keeps for its backward pass, by number: where it is asked for, a second run makes it."""

    def __init__(self, run: Callable[[], Any], preserve_rng_state: bool, on_gpu: bool, context: _Context) -> None:
        self._run, self._context = run, context
        self._states = _rng_states(on_gpu) if preserve_rng_state else None
        self._on_gpu = on_gpu
        self._modes: list[Any] = [(kind, _gradus.get_autocast_dtype(kind), _gradus.is_autocast_enabled(kind))
                                  for kind in ("cpu", "cuda")]
        self._count = 0
        self._made: dict[int, Any] = {}  # what was not asked for yet

    def put(self, tensor: Any) -> int:
        """The number of the tensor, which is not kept."""
        self._count += 1
        return self._count - 1

    def get(self, number: int) -> Any:
        """The tensor of that number."""
        if number not in self._made:
            self._made = self._run_again()
        return self._made.pop(number)

    def _run_again(self) -> dict[int, Any]:
        kept: list[Any] = []

        def put(tensor: Any) -> int:
            kept.append(tensor)
            return len(kept) - 1

        with contextlib.ExitStack() as scopes:
            scopes.enter_context(self._same_numbers())
            for mode in self._modes:
                scopes.enter_context(autocast(*mode))
            for scope in (enable_grad(), self._context, saved_tensors_hooks(put, kept.__getitem__)):
                scopes.enter_context(scope)
            self._run()
        if len(kept) != self._count:
            raise _gradus.Error(f"checkpoint: the function kept {self._count} tensors for its backward pass, and {len(kept)} when it "
                                "ran again; it must compute the same each time")
        return dict(enumerate(kept))

    @contextlib.contextmanager
    def _same_numbers(self) -> Iterator[None]:
        """The random numbers of the first run."""
        if self._states is None:
            yield
            return
        now = _rng_states(self._on_gpu)
        _set_rng_states(self._states)
        try:
            yield
        finally:
            _set_rng_states(now)


def _version(x: Any) -> int | None:
    return None if x.is_inference() else x._version


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
               preserve_rng_state: bool = True,
               context_fn: Callable[[], tuple[_Context, _Context]] | None = None,
               determinism_check: str = "default", debug: bool = False, early_stop: bool = True, **kwargs: Any) -> Any:
    """function(*args, **kwargs) that keeps its arguments alone; the backward pass computes it again.

    It does so in the types of autocast that hold now. preserve_rng_state: with the same random numbers, too, of the CPU and,
    where an argument is on a GPU, of GPUs. context_fn: returns the context of the first computation, and that of the second.
    use_reentrant, determinism_check, debug, early_stop: taken, without effect.
    Errors: Error where an argument was changed in place in between, and where the function keeps another number of tensors
    when it runs again.

    >>> import gradus
    >>> from gradus.utils.checkpoint import checkpoint
    >>> x = gradus.ones(2, requires_grad=True)
    >>> checkpoint(gradus.exp, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """
    if not _gradus.is_grad_enabled():
        return function(*args, **kwargs)
    tensors: list[Any] = []
    given = flat((args, kwargs), tensors)
    before = [(x, x.requires_grad, _version(x)) for x in tensors]

    def run() -> Any:
        for x, _, version in before:
            if _version(x) != version:
                raise _gradus.Error(f"checkpoint: an argument of shape {tuple(x.shape)} was changed in place before the backward "
                                    "pass computed the function again; clone() it")
        own_args, own_kwargs = given(iter([x.detach().requires_grad_(needs) for x, needs, _ in before]))
        return function(*own_args, **own_kwargs)

    now, later = context_fn() if context_fn is not None else (contextlib.nullcontext(),) * 2
    again = _Recomputation(run, preserve_rng_state, any(x.is_cuda for x in tensors), later)
    with now, saved_tensors_hooks(again.put, again.get):
        return function(*args, **kwargs)


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
