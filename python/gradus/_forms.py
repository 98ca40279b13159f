"""Forms of PyTorch that are no rows of the tables: constructors by dtype, limits, new_*, unique."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from . import _gradus
from ._gradus import Tensor


class Size(tuple):  # type: ignore[type-arg]
    """The sizes of a tensor's dimensions."""

    def numel(self) -> builtins.int:
        """The number of elements."""
        out = 1
        for size in self:
            out *= size
        return out

    def __repr__(self) -> str:
        return f"gradus.Size({list(self)})"


def is_tensor(obj: Any) -> builtins.bool:
    """Whether it is a Tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> builtins.int:
    """The number of elements."""
    return input.numel()


def _constructor(name: str, dtype: Any) -> Callable[..., Tensor]:
    def made(*args: Any) -> Tensor:
        if len(args) == 1 and not isinstance(args[0], builtins.int):
            return _gradus.tensor(args[0], dtype=dtype)
        return _gradus.zeros(*args, dtype=dtype) if args else _gradus.empty(0, dtype=dtype)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"A tensor of gradus.{dtype}, of numbers or of these sizes."
    return made


for _name, _dtype in {"Float": "float32", "Double": "float64", "Half": "float16",
                      "BFloat16": "bfloat16", "Byte": "uint8", "Char": "int8", "Short": "int16",
                      "Int": "int32", "Long": "int64", "Bool": "bool"}.items():
    globals()[_name + "Tensor"] = _constructor(_name + "Tensor", getattr(_gradus, _dtype))


class finfo:
    """The limits of a dtype of floating point numbers."""

    _bits = {"float16": (10, 5), "bfloat16": (7, 8), "float32": (23, 8), "float64": (52, 11)}

    def __init__(self, dtype: _gradus.dtype | None = None) -> None:
        dtype = dtype or _gradus.get_default_dtype()
        name = str(dtype).rpartition(".")[2]
        name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
        if name not in self._bits:
            raise _gradus.TypeError(f"finfo: {dtype} is no dtype of floating point numbers; "
                                    "expected one, or iinfo")
        digits, exponent = self._bits[name]
        largest = 2 ** (exponent - 1) - 1
        self.dtype, self.bits = name, 1 + digits + exponent
        self.eps = self.resolution = 2.0 ** -digits
        self.max = (2.0 - 2.0 ** -digits) * 2.0 ** largest
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - largest)

    def __repr__(self) -> str:
        return (f"finfo(min={self.min}, max={self.max}, eps={self.eps}, tiny={self.tiny}, "
                f"dtype={self.dtype})")


class iinfo:
    """The limits of a dtype of integers."""

    def __init__(self, dtype: _gradus.dtype) -> None:
        if dtype.is_floating_point or dtype.is_complex or dtype is _gradus.bool:
            raise _gradus.TypeError(f"iinfo: {dtype} is no dtype of integers; expected one, or finfo")
        self.dtype, self.bits = str(dtype).rpartition(".")[2], 8 * dtype.itemsize
        self.min = -(2 ** (self.bits - 1)) if dtype.is_signed else 0
        self.max = 2 ** (self.bits - dtype.is_signed) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def unique(input: Tensor, sorted: builtins.bool = True, return_inverse: builtins.bool = False,
           return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
    """The different elements, or slices along dim; also where each is and how often, where asked."""
    if dim is None:
        found = _gradus._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = _gradus.unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _asked_for(found, return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: builtins.bool = False,
                       return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
    """The elements, or slices along dim, that differ from the one before; also as unique says."""
    found = _gradus.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked_for(found, return_inverse, return_counts)


def _asked_for(found: Any, inverse: builtins.bool, counts: builtins.bool) -> Any:
    out = (found[0],) + (found[1],) * inverse + (found[2],) * counts
    return out if len(out) > 1 else out[0]


def _of_tensors(name: str, before: builtins.int = 0) -> Callable[..., Any]:
    """A row of a list of tensors, which may also come one by one."""
    row = getattr(_gradus, name)

    def taken(*args: Any, **keywords: Any) -> Any:
        if len(args) > before and isinstance(args[before], Tensor):
            args = (*args[:before], list(args[before:]))
        return row(*args, **keywords)

    taken.__name__ = taken.__qualname__ = name
    taken.__doc__ = row.__doc__
    return taken


einsum = _of_tensors("einsum", before=1)
for _name in ("block_diag", "broadcast_tensors", "cartesian_prod", "chain_matmul", "meshgrid"):
    globals()[_name] = _of_tensors(_name)


def _new(name: str) -> Callable[..., Tensor]:
    make = getattr(_gradus, name)

    def made(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False) -> Tensor:
        return make(*args, dtype=dtype or self.dtype, device=device or self.device,
                    requires_grad=requires_grad)

    made.__name__ = made.__qualname__ = "new_" + name
    made.__doc__ = f"As gradus.{name}, of this tensor's dtype and on its device."
    return made


def type(self: Tensor, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
    """The tensor as another dtype; without one, the name of this dtype as PyTorch has it."""
    if dtype is not None:
        return self.to(dtype, non_blocking=non_blocking)
    names = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16",
             "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
             "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble"}
    name = names[str(self.dtype).rpartition(".")[2]]
    return f"gradus.{'cuda.' if self.is_cuda else ''}{name}Tensor"


for _name in ("zeros", "ones", "empty", "full", "tensor", "empty_strided"):
    setattr(Tensor, "new_" + _name, _new(_name))
setattr(Tensor, "type", type)
setattr(Tensor, "unique", unique)
setattr(Tensor, "unique_consecutive", unique_consecutive)

__all__ = ["Size", "block_diag", "broadcast_tensors", "cartesian_prod", "chain_matmul",
           "einsum", "finfo", "iinfo", "is_tensor", "meshgrid", "numel", "unique", "unique_consecutive"]
__all__ += [name for name in globals() if name.endswith("Tensor") and name != "Tensor"]
