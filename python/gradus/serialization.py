"""save and load: safetensors files, which hold numbers and text and no code."""

from __future__ import annotations

import os
from typing import Any, Union

from . import _gradus

_Path = Union[str, "os.PathLike[str]"]


def _named(value: Any, prefix: str, out: dict[str, _gradus.Tensor]) -> None:
    if isinstance(value, _gradus.Tensor):
        out[prefix or "0"] = value
    elif isinstance(value, (_gradus._nn.Module, _gradus._optim.Optimizer)):
        _named(value.state_dict(), prefix, out)
    elif isinstance(value, dict):
        for name, each in value.items():
            _named(each, f"{prefix}.{name}" if prefix else str(name), out)
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            _named(each, f"{prefix}.{i}" if prefix else str(i), out)
    elif isinstance(value, (bool, int, float)):
        out[prefix] = _gradus.tensor(value, dtype=_gradus.float64 if isinstance(value, float) else None)
    else:
        raise _gradus.TypeError(
            f"save: {prefix or 'the value'} is of type {type(value).__name__}; expected tensors, "
            "numbers, modules, optimizers, and dictionaries and lists of them"
        )


def save(obj: Any, f: _Path) -> None:
    """Writes a tensor, a module, an optimizer, or dictionaries and lists of them, to a file.

    The file is a safetensors file. Names of nested dictionaries are joined by dots.
    """
    out: dict[str, _gradus.Tensor] = {}
    _named(obj, "", out)
    _gradus.save_file(out, f)


def load(f: _Path, map_location: _gradus.device | str | None = None) -> Any:
    """The tensors of a safetensors file by name; one tensor that was saved alone is returned itself.

    >>> import gradus, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "layer.safetensors")
    ...     gradus.save(gradus.nn.Linear(2, 1), path)
    ...     sorted(gradus.load(path))
    ['bias', 'weight']
    """
    out = _gradus.load_file(f, device=map_location)
    return out["0"] if list(out) == ["0"] else out
