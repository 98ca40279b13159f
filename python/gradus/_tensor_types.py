"""Tensors of a dtype and a kind of device as classes, as older programs write them: FloatTensor, x.type(), x.new()."""

from __future__ import annotations

import re
from typing import Any

from . import _gradus
from ._forms import Size
from ._gradus import Tensor


class TensorType(type):
    """A dtype and a kind of device as a class, as older programs write them: gradus.FloatTensor(2, 3)."""

    dtype: Any
    device: str

    def __new__(cls, name: str, dtype: Any, device: str = "cpu") -> Any:
        module = "gradus" if device == "cpu" else f"gradus.{device}"
        text = f"A tensor of {dtype}, of numbers or of these sizes."
        return super().__new__(cls, name, (), {"dtype": dtype, "device": device, "__module__": module, "__doc__": text})

    def __init__(cls, *given: Any) -> None:
        pass

    def __call__(cls, *args: Any) -> Tensor:
        if len(args) == 1 and not isinstance(args[0], (int, Size)):
            return _gradus.tensor(args[0], dtype=cls.dtype, device=cls.device)
        return _gradus.zeros(*args or (0,), dtype=cls.dtype, device=cls.device)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and instance.device.type == cls.device


_DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8", "Char": "int8",
           "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"}


def tensor_types(device: str) -> dict[str, TensorType]:
    """The classes of that kind of device by name."""
    return {f"{name}Tensor": TensorType(f"{name}Tensor", getattr(_gradus, dtype), device) for name, dtype in _DTYPES.items()}


(FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor,
 BoolTensor) = tensor_types("cpu").values()


def new(self: Tensor, *args: Any) -> Tensor:
    """A tensor of these sizes, or of these numbers, of this tensor's dtype and on its device."""
    if len(args) == 1 and not isinstance(args[0], (int, Size)):
        return _gradus.tensor(args[0], dtype=self.dtype, device=self.device)
    return _gradus.empty(*args or (0,), dtype=self.dtype, device=self.device)


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The tensor as another dtype, also by its class or by that's name; without one, the name of its own class."""
    if isinstance(dtype, str):
        kind = re.fullmatch(r"(?:gradus|torch)\.(cuda\.)?(\w+)Tensor", dtype)
        if kind is None or kind[2] not in _DTYPES:
            raise _gradus.ValueError(f"type: '{dtype}' is no class of tensors; expected one as 'gradus.FloatTensor', or a dtype")
        dtype = TensorType(f"{kind[2]}Tensor", getattr(_gradus, _DTYPES[kind[2]]), "cuda" if kind[1] else "cpu")
    if isinstance(dtype, TensorType):
        same = self.device.type == dtype.device
        return self.to(self.device if same else dtype.device, dtype.dtype, non_blocking=non_blocking)
    if dtype is not None:
        return self.to(dtype, non_blocking=non_blocking)
    names = {dtype: name for name, dtype in _DTYPES.items()} | {"complex64": "ComplexFloat", "complex128": "ComplexDouble"}
    name = names[str(self.dtype).rpartition(".")[2]]
    return f"gradus.{'cuda.' if self.is_cuda else ''}{name}Tensor"


type_.__name__ = "type"  # which classes need above
setattr(Tensor, "type", type_)
setattr(Tensor, "new", new)

__all__ = ["BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
           "LongTensor", "ShortTensor"]
