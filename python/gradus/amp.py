"""Mixed precision, under the names of torch.amp."""

from __future__ import annotations

from typing import Any

from . import _gradus
from ._gradus import _amp
from ._gradus._amp import GradScaler
from ._modes import _Mode

__all__ = ["GradScaler", "autocast"]


class autocast(_Mode):
    """Operations compute in the types that suit them in the `with` block or the decorated function."""

    def __init__(self, device_type: str, dtype: _gradus.dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        self._given = (device_type, dtype, enabled, cache_enabled)

    def __enter__(self) -> Any:
        self._before = _amp._enter(*self._given)
        return self

    def __exit__(self, *error: object) -> None:
        _amp._leave(self._before)

    def _arguments(self) -> tuple[Any, ...]:
        return self._given
