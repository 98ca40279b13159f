"""Forms of PyTorch that are no rows of the tables: limits, new_*, unique."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from . import _gradus
from ._gradus import Tensor


class Size(tuple):  # type: ignore[type-arg]
    """The sizes of a tensor's dimensions."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        out = tuple.__getitem__(self, index)
        return Size(out) if isinstance(index, slice) else out

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, times: Any) -> Any:
        return Size(tuple.__mul__(self, times))

    def numel(self) -> builtins.int:
        """The number of elements."""
        out = 1
        for size in self:
            out *= size
        return out

    def __repr__(self) -> str:
        return f"gradus.Size({list(self)})"


_gradus._nn._set_size_class(Size)


def is_tensor(obj: Any) -> builtins.bool:
    """Whether it is a Tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> builtins.int:
    """The number of elements."""
    return input.numel()


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
        self.eps = 2.0 ** -digits
        self.resolution = 10.0 ** -builtins.int(digits * 0.30103)  # of whole decimal digits
        self.max = (2.0 - 2.0 ** -digits) * 2.0 ** largest
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - largest)

    def __repr__(self) -> str:
        numbers = (f"{name}={getattr(self, name):g}" for name in
                   ("resolution", "min", "max", "eps", "smallest_normal", "tiny"))
        return f"finfo({', '.join(numbers)}, dtype={self.dtype})"


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


def split(tensor: Tensor, split_size_or_sections: builtins.int | list[builtins.int],
          dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """Views of split_size along dim, the last of which may be smaller; or views of the sizes in a list."""
    return tensor.split(split_size_or_sections, dim)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, dims_other: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over dimensions of a and b.

    dims: how many, the last of a and the first of b; or two lists, those of a and those of b; or those
    of a, where dims_other are those of b.

    >>> import gradus
    >>> gradus.tensordot(gradus.ones(2, 3), gradus.ones(3, 4), dims=1).tolist()
    [[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]
    """
    if isinstance(dims, builtins.int) and dims_other is None:
        dims, dims_other = range(a.dim() - dims, a.dim()), range(dims)
    elif dims_other is None:
        dims, dims_other = dims
    return _gradus.tensordot(a, b, *(each if isinstance(each, builtins.int) else list(each)
                                     for each in (dims, dims_other)), out=out)


def norm(input: Tensor, p: Any = 2, *places: Any, **options: Any) -> Tensor:
    """The p-norm of all elements, or along dim.

    p: a number; "fro" for 2; "nuc" for the sum of the singular values.
    """
    if not isinstance(p, str):
        return _gradus.norm(input, p, *places, **options)
    if p == "nuc":
        return _gradus.linalg_matrix_norm(input, p, *places, **options)
    if p != "fro":
        raise _gradus.ValueError(f"norm: p is {p!r}, expected a number, 'fro' or 'nuc'")
    return _gradus.norm(input, 2, *places, **options)


_nonzero = Tensor.nonzero


def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: builtins.bool = False) -> Any:
    """A row of indices for each element that is not 0; as_tuple: a tensor for each dimension."""
    if as_tuple:
        return input.nonzero_numpy()
    return _nonzero(input) if out is None else _gradus.nonzero(input, out=out)


def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """The elements moved by shifts along dims; what leaves at one end comes in at the other. No dims: of all in a row."""
    return _gradus.roll(input, shifts, dims)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
    """How often each of the numbers 0, 1, ... is there, or the sum of the weights where it is; at least minlength of them."""
    return _gradus.bincount(input, weights, minlength)


def diff(input: Tensor, n: builtins.int = 1, dim: builtins.int = -1, prepend: Tensor | None = None,
         append: Tensor | None = None) -> Tensor:
    """Differences of neighbours along dim, n times over, between prepend and append."""
    if prepend is None and append is None:
        return _gradus.diff(input, n, dim)
    return _gradus.diff(input, n, dim, prepend, append)


_deterministic = {"mode": False, "warn_only": False}


def use_deterministic_algorithms(mode: builtins.bool, *, warn_only: builtins.bool = False) -> None:
    """Kept, without effect: operations give the same bits each time in either mode."""
    _deterministic.update(mode=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> builtins.bool:
    """What use_deterministic_algorithms() was given."""
    return _deterministic["mode"]


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    return _gradus.mm(input, mat2)


def asarray(obj: Any, *, dtype: _gradus.dtype | None = None, device: Any = None, copy: builtins.bool | None = None,
            requires_grad: builtins.bool = False) -> Tensor:
    """A tensor of numbers, an array or a tensor. copy: None shares the memory where that is possible.

    Errors: ValueError where copy is False and the memory cannot be shared.
    """
    out = _gradus.as_tensor(obj, dtype=dtype, device=device)
    if copy:
        out = out.clone()
    elif copy is False:
        own = obj if isinstance(obj, Tensor) else _gradus.from_dlpack(obj)
        if own.data_ptr() != out.data_ptr():
            raise _gradus.ValueError("asarray: the memory cannot be shared, and copy is False; leave copy out")
    return out.detach().requires_grad_() if requires_grad else out


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which tensors of these shapes broadcast."""
    empty = [_gradus.empty(shape, device="meta") for shape in shapes]
    return Size(broadcast_tensors(*empty)[0].shape if empty else ())  # type: ignore[name-defined]  # noqa: F821


def initial_seed() -> builtins.int:
    """The seed of the generator of the CPU."""
    return _gradus.default_generator.initial_seed()


def seed() -> builtins.int:
    """Seeds the generators of all devices with a random number, and returns it."""
    return _gradus.manual_seed(_gradus.default_generator.seed() >> 1).initial_seed()


def get_rng_state() -> Tensor:
    """The state of the generator of the CPU."""
    return _gradus.default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Gives the generator of the CPU a state that it had."""
    _gradus.default_generator.set_state(new_state)


def _new(name: str) -> Callable[..., Tensor]:
    make = getattr(_gradus, name)

    def made(self: Tensor, *args: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False,
             **named: Any) -> Tensor:
        return make(*args, dtype=dtype or self.dtype, device=device or self.device,
                    requires_grad=requires_grad, **named)

    made.__name__ = made.__qualname__ = "new_" + name
    made.__doc__ = f"As gradus.{name}, of this tensor's dtype and on its device."
    return made


for _name in ("zeros", "ones", "empty", "full", "tensor", "empty_strided"):
    setattr(Tensor, "new_" + _name, _new(_name))
setattr(Tensor, "norm", lambda self, p=2, *places, **options: norm(self, p, *places, **options))
setattr(Tensor, "nonzero", lambda self, *, as_tuple=False: nonzero(self, as_tuple=as_tuple))
setattr(Tensor, "roll", lambda self, shifts, dims=(): roll(self, shifts, dims))
setattr(Tensor, "bincount", lambda self, weights=None, minlength=0: bincount(self, weights, minlength))
setattr(Tensor, "diff", lambda self, n=1, dim=-1, prepend=None, append=None: diff(self, n, dim, prepend, append))
setattr(Tensor, "unique", unique)
setattr(Tensor, "unique_consecutive", unique_consecutive)

__all__ = ["Size", "are_deterministic_algorithms_enabled", "asarray", "bincount", "block_diag", "broadcast_shapes",
           "broadcast_tensors", "cartesian_prod", "chain_matmul", "diff",
           "einsum", "finfo", "get_rng_state", "iinfo", "initial_seed", "is_tensor", "meshgrid", "nonzero", "norm", "numel",
           "roll", "seed", "set_rng_state", "split", "spmm", "tensordot", "unique", "unique_consecutive",
           "use_deterministic_algorithms"]
