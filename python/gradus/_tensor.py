"""What tensors do in Python's way: copies and pickle."""

from __future__ import annotations

import copy
from typing import Any

from . import _gradus
from ._gradus import Tensor
from ._print import tensor_repr


def _made_again(cls: type[Any], data: bytes, dtype: _gradus.dtype, shape: tuple[int, ...], device: str,
                requires_grad: bool) -> Any:
    out = _gradus._from_bytes(data, dtype, shape).to(device)
    if cls is not Tensor:
        return cls(out, requires_grad)
    return out.requires_grad_() if requires_grad else out


def __reduce_ex__(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    return _made_again, (type(self), self._to_bytes(), self.dtype, tuple(self.shape),
                         str(self.device), self.requires_grad)


def __copy__(self: Tensor) -> Tensor:
    return self.detach().requires_grad_(self.requires_grad)


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Any:
    if not self.is_leaf:
        raise RuntimeError(
            "Only tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol; copy.deepcopy(x.detach()) copies the numbers"
        )
    out = self.detach().clone()
    kind: Any = type(self)
    if kind is not Tensor:
        out = kind(out, self.requires_grad)
    elif self.requires_grad:
        out.requires_grad_()
    memo[id(self)] = out
    if self.grad is not None:
        out.grad = copy.deepcopy(self.grad, memo)
    return out


def __format__(self: Tensor, spec: str) -> str:
    """A tensor without dimensions is formatted as its number, others have a text alone."""
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


def __reversed__(self: Tensor) -> Tensor:
    return self.flip(0) if self.dim() else self


def __array_wrap__(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What NumPy makes of its result: numpy.sin(tensor) is a tensor."""
    return _gradus.from_numpy(array)


__repr__ = tensor_repr
for _function in (__reduce_ex__, __copy__, __deepcopy__, __format__, __reversed__, __array_wrap__):
    setattr(Tensor, _function.__name__, _function)
setattr(Tensor, "__repr__", tensor_repr)
setattr(Tensor, "__str__", tensor_repr)
