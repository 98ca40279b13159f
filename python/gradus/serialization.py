"""save and load: safetensors files, which hold tensors by name, and what they are a part of as JSON.

A file runs no code when it is read. A module that is saved whole adds Python's pickle of its class and attributes,
without its tensors, which load() reads where weights_only is False alone.
"""

from __future__ import annotations

import base64
import collections
import io
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from typing import IO, Any, Union

from . import _gradus
from ._forms import Size
from .nn import Parameter
from .optim import _flat_state_dict

_File = Union[str, "os.PathLike[str]", IO[bytes]]
_Place = Union[_gradus.device, str, Callable[..., Any], "dict[str, str]", None]


class _Writer:
    """Names each tensor once, and describes values as JSON."""

    def __init__(self) -> None:
        self.tensors: dict[str, _gradus.Tensor] = {}
        self.names: dict[Any, str] = {}  # by what they are in memory: a tensor of two names is written once
        self.kept: list[Any] = []  # a tensor that is gone may leave its place to another one

    def name(self, tensor: _gradus.Tensor, wanted: str) -> str:
        memory = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype) if tensor.numel() else id(tensor)
        if memory in self.names:
            return self.names[memory]
        name, number = wanted or "0", 0
        while name in self.tensors:
            number += 1
            name = f"{wanted}.{number}"
        self.tensors[name] = tensor
        self.kept.append(tensor)
        self.names[memory] = name
        return name

    def described(self, value: Any, path: str) -> Any:
        """The value as JSON: {"kind": ...}; a text, a number, a bool or None is itself."""
        if value is None:
            return None
        for plain in (bool, int, float, str):  # as its own kind: numbers of NumPy derive from them
            if isinstance(value, plain):
                return plain(value)
        if isinstance(value, _gradus.Tensor):
            return {"tensor": self.name(value, path)}
        if isinstance(value, _gradus._nn.Module):
            return self.described(value.state_dict(), path)
        if isinstance(value, _gradus._optim.Optimizer):
            return self.described(_flat_state_dict(value), path)  # C++ reads these names
        if isinstance(value, dict):
            kind = "ordered" if isinstance(value, collections.OrderedDict) else "dict"
            return {kind: [[self.described(key, path), self.described(each, f"{path}.{key}" if path else str(key))]
                           for key, each in value.items()]}
        if isinstance(value, (_gradus.dtype, _gradus.device)):
            return {type(value).__name__: str(value)}
        if isinstance(value, (list, tuple, set, collections.deque)):
            kind = next(name for name, cls in _LISTS.items() if isinstance(value, cls))
            return {kind: [self.described(each, f"{path}.{i}" if path else str(i)) for i, each in enumerate(value)]}
        raise _gradus.TypeError(
            f"save: {path or 'the value'} is of type {type(value).__name__}; expected tensors, numbers, texts, "
            "modules, optimizers, and dictionaries and lists of them")


_LISTS = {"size": Size, "list": list, "tuple": tuple, "set": set, "deque": collections.deque}


def _rebuilt(value: Any, tensors: dict[str, _gradus.Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, inner), = value.items()
    if kind == "tensor":
        return tensors[inner]
    if kind in ("dict", "ordered"):
        pairs = [(_rebuilt(key, tensors), _rebuilt(each, tensors)) for key, each in inner]
        return dict(pairs) if kind == "dict" else collections.OrderedDict(pairs)
    if kind in ("dtype", "device"):
        return getattr(_gradus, inner.rpartition(".")[2]) if kind == "dtype" else _gradus.device(inner)
    return _LISTS[kind](_rebuilt(each, tensors) for each in inner)


class _Pickler(pickle.Pickler):
    """Pickles objects, and names their tensors instead."""

    def __init__(self, file: Any, writer: _Writer) -> None:
        super().__init__(file)
        self._writer = writer

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _gradus.Tensor):
            kind = "parameter" if isinstance(obj, Parameter) else "tensor"
            return kind, self._writer.name(obj, "extra"), obj.requires_grad
        return None


class _Unpickler(pickle.Unpickler):
    """Reads what _Pickler wrote: each parameter is one object, in all places."""

    def __init__(self, file: Any, tensors: dict[str, _gradus.Tensor]) -> None:
        super().__init__(file)
        self._tensors, self._made = tensors, dict[str, Any]()

    def persistent_load(self, pid: Any) -> Any:
        kind, name, requires_grad = pid
        if name not in self._made:
            tensor = self._tensors[name]
            self._made[name] = Parameter(tensor, requires_grad) if kind == "parameter" else \
                tensor.requires_grad_(requires_grad)
        return self._made[name]


def _holds_objects(value: Any) -> bool:
    """Whether a module, an optimizer or an object that JSON cannot describe is there."""
    if isinstance(value, dict):
        return any(_holds_objects(each) for pair in value.items() for each in pair)
    if isinstance(value, (list, tuple, set, collections.deque)):
        return any(map(_holds_objects, value))
    return not (value is None or isinstance(value, (bool, int, float, str, _gradus.Tensor, _gradus.dtype, _gradus.device)))


def save(obj: Any, f: _File) -> None:
    """Writes tensors, numbers, texts, modules, optimizers, and dictionaries and lists of them, to a file.

    f: a path, or a file that is open for bytes. The file is a safetensors file. Names of nested dictionaries are joined
    by dots; load() makes the dictionaries again.
    """
    writer, metadata = _Writer(), {}
    structure = writer.described(obj, "")
    metadata["gradus.structure"] = json.dumps(structure)
    if _holds_objects(obj):
        code = io.BytesIO()
        try:
            _Pickler(code, writer).dump(obj)
            metadata["gradus.pickle"] = base64.b64encode(code.getvalue()).decode()
        except (pickle.PicklingError, AttributeError, TypeError):
            pass  # a class within a function: the tensors are saved all the same
    if hasattr(f, "write"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            _gradus.save_file(writer.tensors, path, metadata)
            with open(path, "rb") as file:
                f.write(file.read())  # type: ignore[union-attr]
    else:
        _gradus.save_file(writer.tensors, f, metadata)


def load(f: _File, map_location: _Place = None, *, weights_only: bool = True, mmap: bool | None = None) -> Any:
    """What save() wrote; a module or an optimizer as its state dict.

    map_location: the device of the tensors; the CPU, where it is a function or a dictionary. weights_only: False gives
    modules themselves, and runs code that the file names: only for files of your own. A safetensors file of another
    program gives a dictionary of its tensors.

    >>> import gradus, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "checkpoint.pt")
    ...     gradus.save({"epoch": 3, "model": gradus.nn.Linear(2, 1).state_dict()}, path)
    ...     checkpoint = gradus.load(path)
    >>> checkpoint["epoch"], sorted(checkpoint["model"])
    (3, ['bias', 'weight'])
    """
    if hasattr(f, "read"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "wb") as file:
                file.write(f.read())  # type: ignore[union-attr]
            return load(path, map_location, weights_only=weights_only)
    device = map_location if isinstance(map_location, (str, _gradus.device)) else None
    tensors = _gradus.load_file(f, device=device, mmap=bool(mmap))
    metadata = _gradus._load_metadata(f)
    if not weights_only and "gradus.pickle" in metadata:
        return _Unpickler(io.BytesIO(base64.b64decode(metadata["gradus.pickle"])), tensors).load()
    if "gradus.structure" in metadata:
        return _rebuilt(json.loads(metadata["gradus.structure"]), tensors)
    return tensors["0"] if list(tensors) == ["0"] else tensors
