"""GPUs, under the names of torch.cuda and, for kernels of one's own, of cupy."""

from __future__ import annotations

from . import _gradus
from ._gradus._cuda import *  # noqa: F403
from ._gradus._cuda import Stream as _Stream
from ._gradus._cuda import current_device, current_stream, set_device, set_stream


class device:
    """Makes a GPU the current one in a `with` block."""

    def __init__(self, device: _gradus.device | str | int) -> None:
        self.device = device

    def __enter__(self) -> device:
        self._before = current_device()
        set_device(self.device)
        return self

    def __exit__(self, *error: object) -> None:
        set_device(self._before)


class stream:
    """Makes a stream the current one in a `with` block."""

    def __init__(self, stream: _Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> _Stream | None:
        if self.stream is not None:
            self._before = current_stream(self.stream.device)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            set_stream(self._before)


def _enter(self: _Stream) -> _Stream:
    _before.setdefault(id(self), []).append(current_stream(self.device))
    set_stream(self)
    return self


def _exit(self: _Stream, *error: object) -> None:
    set_stream(_before[id(self)].pop())


_before: dict[int, list[_Stream]] = {}
setattr(_Stream, "__enter__", _enter)
setattr(_Stream, "__exit__", _exit)


def manual_seed(seed: int) -> None:
    """Seeds the generators of all devices."""
    _gradus.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices."""
    _gradus.manual_seed(seed)
