"""GPUs, under the names of torch.cuda and, for kernels of one's own, of cupy."""

from . import _gradus
from ._gradus._cuda import *  # noqa: F403
from ._gradus._cuda import Stream as _Stream
from ._gradus._cuda import current_device, current_stream, set_device, set_stream


class device:
    """Makes a GPU the current one in a `with` block."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self._before = current_device()
        set_device(self.device)
        return self

    def __exit__(self, *error):
        set_device(self._before)


class stream:
    """Makes a stream the current one in a `with` block."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self._before = current_stream(self.stream.device)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *error):
        if self.stream is not None:
            set_stream(self._before)


def _enter(self):
    _before.setdefault(id(self), []).append(current_stream(self.device))
    set_stream(self)
    return self


def _exit(self, *error):
    set_stream(_before[id(self)].pop())


_before = {}
_Stream.__enter__, _Stream.__exit__ = _enter, _exit


def manual_seed(seed):
    """Seeds the generators of all devices."""
    _gradus.manual_seed(seed)


def manual_seed_all(seed):
    """Seeds the generators of all devices."""
    _gradus.manual_seed(seed)
