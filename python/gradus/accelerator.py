"""The GPU of this machine, whichever kind it is, under the names of torch.accelerator."""

from __future__ import annotations

from typing import Any

from . import _gradus


def is_available() -> bool:
    """Whether there is a GPU."""
    return bool(_gradus._cuda.is_available())


def device_count() -> int:
    """How many GPUs there are."""
    return int(_gradus._cuda.device_count())


def current_accelerator(check_available: bool = False) -> Any:
    """The device cuda; None where there is none."""
    return _gradus.device("cuda") if is_available() else None


def synchronize(device: Any = None) -> None:
    """Waits for the GPU."""
    if is_available():
        _gradus._cuda.synchronize(*(() if device is None else (device,)))


def current_device_index() -> int:
    """The index of the current GPU."""
    return int(_gradus._cuda.current_device())


def set_device_index(device: Any) -> None:
    """Makes a GPU the current one."""
    _gradus._cuda.set_device(device)
