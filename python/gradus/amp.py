"""Mixed precision, under the names of torch.amp."""

from __future__ import annotations

from typing import Any

from ._gradus._amp import GradScaler as _GradScaler, autocast
from ._modes import _Mode

__all__ = ["GradScaler", "autocast"]

setattr(autocast, "__call__", _Mode.__call__)


class GradScaler(_GradScaler):
    """A scale for losses, so that gradients of float16 are not 0.

    device: taken, without effect: gradients are scaled on any device. It may be left out.
    """

    def __init__(self, device: Any = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        if isinstance(device, (int, float)):  # the scale came first
            init_scale = device
        super().__init__(init_scale, growth_factor, backoff_factor, growth_interval, enabled)
