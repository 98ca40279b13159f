"""Tools, under the names of torch.utils. Each is imported when it is first used."""

import sys as _sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import benchmark as benchmark, checkpoint as checkpoint, data as data
del TYPE_CHECKING

_parts = ("benchmark", "checkpoint", "data")


def __getattr__(name: str) -> object:
    if name in _parts:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'gradus.utils' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(_sys.modules[__name__]), *_parts})
