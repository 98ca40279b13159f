"""save and load: safetensors files, which hold tensors by name, and what they are a part of as JSON.

A file holds no code: a module or an optimizer is saved as its state dict.
"""

from __future__ import annotations

import builtins
import collections
import json
import os
import tempfile
from collections.abc import Callable
from typing import IO, Any, Union

from . import _gradus
from ._forms import Size
from .nn.parameter import Parameter
from .optim import _flat_state_dict

_File = Union[str, "os.PathLike[str]", IO[bytes]]
_Place = Union[_gradus.device, str, Callable[..., Any], "dict[str, str]", None]


class _Writer:
    """Names each tensor once, and describes values as JSON."""

    def __init__(self) -> None:
        self.tensors: dict[str, _gradus.Tensor] = {}
        self.names: dict[Any, str] = {}  # by what they are in memory: a tensor of two names is written once
        self.kept: list[Any] = []  # a tensor that is gone may leave its place to another one
        self.objects: list[str] = []  # the classes of modules and optimizers

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
            name = self.name(value, path)
            if isinstance(value, Parameter):
                return {"parameter": [name, value.requires_grad]}
            return {"leaf" if value.requires_grad else "tensor": name}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, _gradus._nn.Module):
            self.objects.append(type(value).__name__)
            return self.described(value.state_dict(), path)
        if isinstance(value, _gradus._optim.Optimizer):
            self.objects.append(type(value).__name__)
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
            f"save: {path or 'the value'} is of type {type(value).__name__}; expected tensors, numbers, texts, bytes, "
            "modules, optimizers, and dictionaries and lists of them")


_LISTS = {"size": Size, "list": list, "tuple": tuple, "set": set, "deque": collections.deque}


def _rebuilt(value: Any, tensors: dict[str, _gradus.Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, inner), = value.items()
    if kind == "tensor":
        return tensors[inner]
    if kind == "leaf":
        return tensors[inner].detach().requires_grad_()
    if kind == "parameter":
        return Parameter(tensors[inner[0]], inner[1])
    if kind == "bytes":
        return bytes.fromhex(inner)
    if kind == "complex":
        return complex(*inner)
    if kind in ("dict", "ordered"):
        pairs = [(_rebuilt(key, tensors), _rebuilt(each, tensors)) for key, each in inner]
        return dict(pairs) if kind == "dict" else collections.OrderedDict(pairs)
    if kind == "device":
        return _gradus.device(inner)
    if kind == "dtype":
        found = getattr(_gradus, inner.rpartition(".")[2])
        if not isinstance(found, _gradus.dtype):
            raise _gradus.TypeError(f"'{inner}' is no dtype")
        return found
    return _LISTS[kind](_rebuilt(each, tensors) for each in inner)


def save(obj: Any, f: _File) -> None:
    """Writes tensors, numbers, texts, bytes, modules, optimizers, and dictionaries and lists of them, to a file.

    f: a path, or a file that is open for bytes. The file is a safetensors file. Names of nested dictionaries are joined
    by dots; load() makes the dictionaries again. A parameter is one again, and what required gradients is a leaf that does.
    """
    writer = _Writer()
    metadata = {"gradus.structure": json.dumps(writer.described(obj, ""))}
    if writer.objects:
        metadata["gradus.objects"] = ", ".join(dict.fromkeys(writer.objects))
    if hasattr(f, "write"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            _gradus.save_file(writer.tensors, path, metadata)
            with open(path, "rb") as file:
                f.write(file.read())  # type: ignore[union-attr]
    else:
        _gradus.save_file(writer.tensors, f, metadata)


class _Unopened(_gradus.Error):
    __str__ = Exception.__str__  # the text alone, and not that of an OSError


class FileNotFoundError(_Unopened, builtins.FileNotFoundError):
    """load() of a file that is not there: an Error, and the builtin of that name."""


class IsADirectoryError(_Unopened, builtins.IsADirectoryError):
    """load() of a folder: an Error, and the builtin of that name."""


class PermissionError(_Unopened, builtins.PermissionError):
    """load() of a file that the user may not read: an Error, and the builtin of that name."""


def _is_zip(path: Any) -> bool:
    """Whether a file is one of torch.save."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\3\4"
    except OSError as error:
        for kind in (FileNotFoundError, IsADirectoryError, PermissionError):
            if isinstance(error, kind.__bases__):
                made = kind(f"load: {path}: cannot be opened: {error.strerror}; check the path and its permissions")
                made.errno, made.strerror, made.filename = error.errno, error.strerror, error.filename
                raise made from None
        return False  # load_file() says why


def load(f: _File, map_location: _Place = None, *, weights_only: bool = True, mmap: bool | None = None) -> Any:
    """What save() wrote; a module or an optimizer as its state dict.

    map_location: the device of the tensors; the CPU, where it is a function or a dictionary. weights_only: False asks for
    objects, so it is a TypeError where a module or an optimizer was saved. A safetensors file of another program gives a
    dictionary of its tensors, and so does a file of torch.save: the names of nested dictionaries are joined by dots.
    Errors: FileNotFoundError, IsADirectoryError and PermissionError, which are Errors and the builtins of these names;
    ValueError for a file of another kind.

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
    if _is_zip(f):
        return _gradus.load_pt(f, device=device)
    tensors = _gradus.load_file(f, device=device, mmap=bool(mmap))
    metadata = _gradus._load_metadata(f)
    if not weights_only and "gradus.objects" in metadata:
        raise _gradus.TypeError(
            f"load: weights_only is False, and the file holds the state of {metadata['gradus.objects']}, not the object; "
            "make it by its class, and give what load() returns with weights_only=True to load_state_dict()")
    if "gradus.structure" in metadata:
        try:
            return _rebuilt(json.loads(metadata["gradus.structure"]), tensors)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise _gradus.ValueError(f"load: '{f}' says of itself what save() does not write ({type(error).__name__}: {error}); "
                                     "load_file() gives its tensors") from None
    return tensors["0"] if list(tensors) == ["0"] else tensors
