"""Whether operations are recorded, as a context and as a decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar, overload

from . import _gradus

_F = TypeVar("_F", bound=Callable[..., Any])


class _Mode:
    """A context that can also decorate a function. In a generator it holds while that runs, and not between its steps."""

    def __call__(self, function: _F) -> _F:
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & 0x20:  # inspect.CO_GENERATOR; inspect takes long to import
            return self._steps(function)  # type: ignore[return-value]

        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with type(self)(*self._arguments()):
                return function(*args, **kwargs)

        return inner  # type: ignore[return-value]

    def _steps(self, function: Callable[..., Generator[Any, Any, Any]]) -> Callable[..., Generator[Any, Any, Any]]:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            steps = function(*args, **kwargs)
            step: Callable[..., Any] = steps.send
            given: Any = None
            while True:
                try:
                    with type(self)(*self._arguments()):
                        made = step(given)
                except StopIteration as end:
                    return end.value
                try:
                    step, given = steps.send, (yield made)
                except GeneratorExit:
                    with type(self)(*self._arguments()):
                        steps.close()
                    raise
                except BaseException as error:
                    step, given = steps.throw, error

        return inner

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _arguments(self) -> tuple[Any, ...]:
        return ()


class _Switch(_Mode):
    """A mode that is set at once, and in a `with` block until its end."""

    _set: Callable[[bool], bool]

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = self._set(self.mode)

    def __exit__(self, *error: object) -> None:
        self._set(self._before)

    def __call__(self, function: _F) -> _F:
        self._set(self._before)
        return super().__call__(function)

    def _arguments(self) -> tuple[bool]:
        return (self.mode,)


class set_grad_enabled(_Switch):
    """Sets whether operations are recorded: at once, and in a `with` block until its end."""

    _set = staticmethod(_gradus._set_grad_enabled)

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)


class set_batch_invariant_mode(_Switch):
    """Sets whether each row of a forward pass in eval has the same bits in every batch and at every place of it.

    The process has the mode at once, and in a `with` block until its end. It costs speed. It is off at first, or as the
    environment variable GRADUS_BATCH_INVARIANT says. A captured graph keeps the kernels that it was captured with.

    >>> import gradus
    >>> with gradus.set_batch_invariant_mode():
    ...     gradus.is_batch_invariant_mode_enabled()
    True
    """

    _set = staticmethod(_gradus._set_batch_invariant)

    def __init__(self, enabled: bool = True) -> None:
        super().__init__(enabled)


class _GradMode(_Mode):
    _mode: bool

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        self._function = function

    @overload
    def __new__(cls, function: None = None) -> _GradMode: ...
    @overload
    def __new__(cls, function: _F) -> _F: ...
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)

    def __enter__(self) -> Any:
        self._before = _gradus._set_grad_enabled(self._mode)
        return self

    def __exit__(self, *error: object) -> None:
        _gradus._set_grad_enabled(self._before)


class no_grad(_GradMode):
    """Operations are not recorded in the `with` block or the decorated function.

    >>> import gradus
    >>> x = gradus.ones(2, requires_grad=True)
    >>> with gradus.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _mode = False


class enable_grad(_GradMode):
    """Operations are recorded in the `with` block or the decorated function."""

    _mode = True


class inference_mode(_Mode):
    """Operations are not recorded, and new tensors never take part in gradients.

    mode: whether that holds; or a function, which is decorated.
    """

    @overload
    def __new__(cls, mode: bool = True) -> inference_mode: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...
    def __new__(cls, mode: Any = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool | Callable[..., Any] = True) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> Any:
        self._before = _gradus._set_inference_mode(self.mode)
        return self

    def __exit__(self, *error: object) -> None:
        _gradus._restore_modes(self._before)

    def _arguments(self) -> tuple[bool]:
        return (self.mode,)
