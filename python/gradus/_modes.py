"""Whether operations are recorded, as a context and as a decorator."""

import functools

from . import _gradus


class _Mode:
    """A context that can also decorate a function."""

    def __call__(self, function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            with type(self)(*self._arguments()):
                return function(*args, **kwargs)

        return inner

    def _arguments(self):
        return ()


class set_grad_enabled(_Mode):
    """Sets whether operations are recorded: at once, and in a `with` block until its end."""

    def __init__(self, mode):
        self.mode = bool(mode)
        self._before = _gradus._set_grad_enabled(self.mode)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _gradus._set_grad_enabled(self._before)

    def __call__(self, function):
        _gradus._set_grad_enabled(self._before)
        return super().__call__(function)

    def _arguments(self):
        return (self.mode,)


class _GradMode(_Mode):
    def __init__(self, function=None):
        self._function = function

    def __new__(cls, function=None):
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)

    def __enter__(self):
        self._before = _gradus._set_grad_enabled(self._mode)
        return self

    def __exit__(self, *error):
        _gradus._set_grad_enabled(self._before)


class no_grad(_GradMode):
    """Operations are not recorded in the `with` block or the decorated function."""

    _mode = False


class enable_grad(_GradMode):
    """Operations are recorded in the `with` block or the decorated function."""

    _mode = True


class inference_mode(_Mode):
    """Operations are not recorded, and new tensors never take part in gradients."""

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self._before = _gradus._set_inference_mode(self.mode)
        return self

    def __exit__(self, *error):
        _gradus._restore_modes(self._before)

    def _arguments(self):
        return (self.mode,)
