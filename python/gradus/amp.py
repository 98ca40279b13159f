"""Mixed precision, under the names of torch.amp."""

from __future__ import annotations

from ._gradus._amp import GradScaler, autocast
from ._modes import _Mode

__all__ = ["GradScaler", "autocast"]

setattr(autocast, "__call__", _Mode.__call__)
