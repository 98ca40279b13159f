"""What tensors do in Python's way: copies and pickle."""

import copy

from . import _gradus
from ._gradus import Tensor
from ._print import tensor_repr


def _made_again(cls, data, dtype, shape, device, requires_grad):
    out = _gradus._from_bytes(data, dtype, shape).to(device)
    if cls is not Tensor:
        return cls(out, requires_grad)
    return out.requires_grad_() if requires_grad else out


def __reduce_ex__(self, protocol):
    return _made_again, (type(self), self._to_bytes(), self.dtype, tuple(self.shape),
                         str(self.device), self.requires_grad)


def __copy__(self):
    return self.detach().requires_grad_(self.requires_grad)


def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError(
            "Only tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol; copy.deepcopy(x.detach()) copies the numbers"
        )
    out = self.detach().clone()
    if type(self) is not Tensor:
        out = type(self)(out, self.requires_grad)
    elif self.requires_grad:
        out.requires_grad_()
    memo[id(self)] = out
    if self.grad is not None:
        out.grad = copy.deepcopy(self.grad, memo)
    return out


def __format__(self, spec):
    return format(self.item(), spec) if spec and self.dim() == 0 else format(repr(self), spec)


__repr__ = tensor_repr
for _function in (__reduce_ex__, __copy__, __deepcopy__, __format__):
    setattr(Tensor, _function.__name__, _function)
Tensor.__repr__ = tensor_repr
Tensor.__str__ = tensor_repr
