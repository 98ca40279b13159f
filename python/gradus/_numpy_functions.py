"""Functions of NumPy that gradus has with other arguments, results or defaults."""

from __future__ import annotations

import builtins
import math
from typing import Any

from . import _gradus
from ._gradus import Tensor
from ._numpy import Arrays, _has_integers, called, dtype_of


class Functions(Arrays):
    """The public methods are functions of gradus.numpy, and on a GPU those of gradus.cupy."""

    # --- Arrays from data

    def array(self, object: Any, dtype: Any = None, copy: bool = True) -> Tensor:
        """The data as a new array."""
        return self.asarray(object, dtype, copy=copy)

    def asnumpy(self, a: Any) -> Any:
        """An array of NumPy: over the memory of an array on the CPU, or a copy of one on a GPU."""
        return self.asarray(a).detach().cpu().numpy()

    def copy(self, a: Any) -> Tensor:
        """A copy of an array."""
        return self._of(a).clone()

    def astype(self, x: Any, dtype: Any, copy: bool = True) -> Tensor:
        """The array with elements of another dtype."""
        return self._of(x).to(dtype_of(dtype), copy=copy)

    def _shape(self, shape: Any) -> tuple[int, ...]:
        return (shape,) if isinstance(shape, int) else tuple(shape)

    def zeros(self, shape: Any, dtype: Any = None) -> Tensor:
        """Elements 0, of float64 by default."""
        return _gradus.zeros(self._shape(shape), dtype=dtype_of(dtype or float), device=self.device)

    def ones(self, shape: Any, dtype: Any = None) -> Tensor:
        """Elements 1, of float64 by default."""
        return _gradus.ones(self._shape(shape), dtype=dtype_of(dtype or float), device=self.device)

    def empty(self, shape: Any, dtype: Any = None) -> Tensor:
        """Elements that are not set, of float64 by default."""
        return _gradus.empty(self._shape(shape), dtype=dtype_of(dtype or float), device=self.device)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
        """Elements of one value, of its dtype by default."""
        value = self.asarray(fill_value, dtype)
        return value.expand(self._shape(shape)).clone()

    def zeros_like(self, a: Any, dtype: Any = None) -> Tensor:
        """Elements 0, in the shape of an array."""
        return _gradus.zeros_like(self._of(a), dtype=dtype_of(dtype))

    def ones_like(self, a: Any, dtype: Any = None) -> Tensor:
        """Elements 1, in the shape of an array."""
        return _gradus.ones_like(self._of(a), dtype=dtype_of(dtype))

    def empty_like(self, a: Any, dtype: Any = None) -> Tensor:
        """Elements that are not set, in the shape of an array."""
        return _gradus.empty_like(self._of(a), dtype=dtype_of(dtype))

    def full_like(self, a: Any, fill_value: Any, dtype: Any = None) -> Tensor:
        """Elements of one value, in the shape of an array."""
        return _gradus.full_like(self._of(a), fill_value, dtype=dtype_of(dtype))

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
        """start, start + step, ... below stop; of int64 where all are integers, otherwise of float64."""
        start, stop = (0, start) if stop is None else (start, stop)
        integers = all(isinstance(each, int) for each in (start, stop, step))
        return _gradus.arange(start, stop, step, device=self.device,
                              dtype=dtype_of(dtype or (int if integers else float)))

    def linspace(self, start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Tensor:
        """num numbers from start to stop at one distance; endpoint: stop is the last one."""
        steps = num if endpoint else num + 1
        out = _gradus.linspace(start, stop, steps, dtype=_gradus.float64, device=self.device)[:num]
        return out if dtype is None else out.to(dtype_of(dtype))

    def logspace(self, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0,
                 dtype: Any = None) -> Tensor:
        """base to the powers of linspace(start, stop, num)."""
        return _gradus.pow(float(base), self.linspace(start, stop, num, endpoint)).to(dtype_of(dtype or float))

    def eye(self, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
        """A matrix N x M with ones on the k-th diagonal."""
        ones = _gradus.ones(N, N if M is None else M, dtype=dtype_of(dtype or float), device=self.device)
        return _gradus.triu(_gradus.tril(ones, k), k)

    def identity(self, n: int, dtype: Any = None) -> Tensor:
        """The identity matrix."""
        return self.eye(n, dtype=dtype)

    def meshgrid(self, *xi: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
        """Vectors as coordinates of a grid, a tuple of arrays of all dimensions."""
        return _gradus.meshgrid([self._of(x) for x in xi], indexing=indexing)

    # --- Shapes

    def shape(self, a: Any) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return self._of(a).shape

    def ndim(self, a: Any) -> int:
        """The number of dimensions."""
        return self._of(a).ndim

    def size(self, a: Any, axis: Any = None) -> int:
        """The number of elements, or the size of one dimension."""
        a = self._of(a)
        return a.numel() if axis is None else a.shape[axis]

    def transpose(self, a: Any, axes: Any = None) -> Tensor:
        """The dimensions in another order, by default the reverse one."""
        a = self._of(a)
        return a.permute(tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))

    def matrix_transpose(self, x: Any) -> Tensor:
        """The last two dimensions exchanged."""
        return self._of(x).mT

    def flip(self, m: Any, axis: Any = None) -> Tensor:
        """The elements in the reverse order along some dimensions, by default all."""
        m = self._of(m)
        axis = range(m.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        return m.flip(tuple(axis))

    def repeat(self, a: Any, repeats: Any, axis: Any = None) -> Tensor:
        """Each element so many times, along a dimension, or of the flattened array."""
        repeats = repeats if isinstance(repeats, int) else self._of(repeats)
        return _gradus.repeat_interleave(self._of(a), repeats, axis)

    def array_split(self, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
        """Parts along a dimension: so many, or those that begin at the indices."""
        return list(_gradus.tensor_split(self._of(ary), indices_or_sections, axis))

    def split(self, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Tensor]:
        """array_split into parts of one size. Errors: ValueError where they differ."""
        ary = self._of(ary)
        if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
            raise _gradus.ValueError(f"split: {indices_or_sections} parts of dimension {axis} of size "
                                     f"{ary.shape[axis]} are not equal; use array_split")
        return self.array_split(ary, indices_or_sections, axis)

    # --- Products

    def dot(self, a: Any, b: Any) -> Tensor:
        """Of vectors the inner product, of matrices the product, of others a sum over the last dimension
        of a and the last but one of b."""
        a, b = self._of(a), self._of(b)
        if a.ndim == 0 or b.ndim == 0:
            return a * b
        if a.ndim <= 2 and b.ndim <= 2:
            return called(_gradus.matmul, [a, b], {})
        return self.tensordot(a, b, ([a.ndim - 1], [builtins.max(b.ndim - 2, 0)]))

    def tensordot(self, a: Any, b: Any, axes: Any = 2) -> Tensor:
        """Sums of products over the last dimensions of a and the first ones of b, or over pairs of lists."""
        a, b = self._of(a), self._of(b)
        if isinstance(axes, int):
            axes = range(a.ndim - axes, a.ndim), range(axes)
        axes = [(each,) if isinstance(each, int) else tuple(each) for each in axes]
        return called(_gradus.tensordot, [a, b, *axes], {})

    def einsum(self, subscripts: str, *operands: Any) -> Tensor:
        """Sums of products by letters: "ij,jk->ik"."""
        return called(_gradus.einsum, [subscripts, [self._of(each) for each in operands]], {})

    # --- Reductions

    def _extreme(self, function: Any, a: Any, axis: Any, keepdims: bool) -> Tensor:
        axis = () if axis is None else axis
        return function(self._of(a), axis, keepdims)

    def max(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The largest element over some dimensions, by default all."""
        return self._extreme(_gradus.amax, a, axis, keepdims)

    def min(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The smallest element over some dimensions, by default all."""
        return self._extreme(_gradus.amin, a, axis, keepdims)

    amax, amin = max, min

    def _spread(self, function: Any, a: Any, axis: Any, ddof: float, keepdims: bool) -> Tensor:
        a = self._of(a)
        a = a.double() if _has_integers(a) else a
        axis = tuple(range(a.ndim)) if axis is None else axis
        return function(a, axis, correction=ddof, keepdim=keepdims)

    def std(self, a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """The standard deviation; the sum of squares is divided by the number of elements - ddof."""
        return self._spread(_gradus.std, a, axis, ddof, keepdims)

    def var(self, a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """The variance; the sum of squares is divided by the number of elements - ddof."""
        return self._spread(_gradus.var, a, axis, ddof, keepdims)

    def median(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The element in the middle, or the mean of both."""
        a = self._of(a)
        a = a.double() if _has_integers(a) else a
        return _gradus.quantile(a, 0.5, axis, keepdims)

    def _running(self, function: Any, a: Any, axis: Any, dtype: Any) -> Tensor:
        a = self._of(a)
        return function(a.reshape(-1) if axis is None else a, 0 if axis is None else axis,
                        dtype=dtype_of(dtype))

    def cumsum(self, a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
        """Sums of all elements so far, along a dimension, or of the flattened array."""
        return self._running(_gradus.cumsum, a, axis, dtype)

    def cumprod(self, a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
        """Products of all elements so far, along a dimension, or of the flattened array."""
        return self._running(_gradus.cumprod, a, axis, dtype)

    # --- Order and choice

    def sort(self, a: Any, axis: Any = -1) -> Tensor:
        """The elements in rising order, along a dimension, or of the flattened array."""
        a = self._of(a)
        return (a.reshape(-1) if axis is None else a).sort(-1 if axis is None else axis)[0]

    def unique(self, ar: Any) -> Tensor:
        """The different elements in rising order."""
        return _gradus._unique2(self._of(ar))[0]

    def where(self, condition: Any, *values: Any) -> Any:
        """Where the condition holds, x, otherwise y; of the condition alone, the places where it holds."""
        condition = self._of(condition)
        if not values:
            return self.nonzero(condition)
        if len(values) != 2:
            raise _gradus.TypeError("where: expected a condition, or a condition and two arrays")
        x, y = (each if isinstance(each, (bool, int, float, complex)) else self._of(each) for each in values)
        if not (isinstance(x, Tensor) or isinstance(y, Tensor)):
            x = self.asarray(x)
        return _gradus.where(condition.bool(), x, y)

    def nonzero(self, a: Any) -> tuple[Tensor, ...]:
        """The indices of the elements that are not 0, a vector for each dimension."""
        return tuple(_gradus.nonzero(self._of(a)).unbind(1))

    def array_equal(self, a1: Any, a2: Any) -> bool:
        """Whether two arrays have the same shape and elements."""
        return bool(_gradus.equal(self._of(a1), self._of(a2)))


class Random:
    """Random numbers under NumPy's names, from gradus's generators; floats are float64.

    A method without a size returns one number.
    """

    def __init__(self, arrays: Any, generator: Any = None) -> None:
        self._arrays, self._generator = arrays, generator

    def _made(self, function: Any, size: Any, *args: Any, dtype: Any = _gradus.float64) -> Any:
        shape = () if size is None else self._arrays._shape(size)
        out = function(*args, shape, dtype=dtype, device=self._arrays.device, generator=self._generator)
        return out.item() if size is None else out

    def seed(self, seed: int) -> None:
        """Seeds the generators of all devices."""
        _gradus.manual_seed(seed)

    def random(self, size: Any = None) -> Any:
        """Uniform numbers from 0 to 1."""
        return self._made(_gradus.rand, size)

    def rand(self, *size: Any) -> Any:
        """Uniform numbers from 0 to 1, with the sizes as arguments of their own."""
        return self.random(size or None)

    def standard_normal(self, size: Any = None) -> Any:
        """Numbers of the normal distribution with mean 0 and deviation 1."""
        return self._made(_gradus.randn, size)

    def randn(self, *size: Any) -> Any:
        """standard_normal with the sizes as arguments of their own."""
        return self.standard_normal(size or None)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        """Uniform numbers from low to high."""
        return low + (high - low) * self.random(size)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Numbers of the normal distribution with mean loc and deviation scale."""
        return loc + scale * self.standard_normal(size)

    def randint(self, low: int, high: int | None = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from low to high - 1, or from 0 to low - 1."""
        low, high = (0, low) if high is None else (low, high)
        return self._made(_gradus.randint, size, low, high, dtype=dtype_of(dtype))

    integers = randint

    def permutation(self, x: Any) -> Any:
        """0 to x - 1, or the rows of an array, in random order."""
        rows = x if isinstance(x, int) else len(x)
        order = _gradus.randperm(rows, device=self._arrays.device, generator=self._generator)
        return order if isinstance(x, int) else self._arrays.asarray(x)[order]

    def choice(self, a: Any, size: Any = None, replace: bool = True) -> Any:
        """Elements of a vector, or of 0 to a - 1, at random."""
        values = self._arrays.arange(a) if isinstance(a, int) else self._arrays.asarray(a)
        count = 1 if size is None else math.prod(self._arrays._shape(size))
        if not replace and count > len(values):
            raise _gradus.ValueError(f"choice: {count} different elements of {len(values)}; expected no more "
                                     "than there are, or replace=True")
        places = self.randint(len(values), size=count) if replace else self.permutation(len(values))[:count]
        chosen = values[places]
        return chosen[0].item() if size is None else chosen.reshape(self._arrays._shape(size))

    def default_rng(self, seed: int | None = None) -> Any:
        """A generator of its own with these methods."""
        generator = _gradus.Generator(self._arrays.device)
        if seed is None:
            generator.seed()
        else:
            generator.manual_seed(seed)
        return Random(self._arrays, generator)
