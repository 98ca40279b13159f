"""Functions of NumPy that gradus has with other arguments, results or defaults."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

from . import _gradus, _print
from ._forms import broadcast_shapes, finfo, iinfo  # type: ignore[attr-defined]
from ._gradus import Tensor
from ._numpy import _NUMBERS, Arrays, _has_integers, alike, as_arrays, called, common_dtype, dtype_of, with_arrays


@with_arrays
class Functions(Arrays):
    """The public methods are functions of gradus.numpy, and on a GPU those of gradus.cupy."""

    # --- Arrays from data

    def array(self, object: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
        """The data as a new array, with dimensions of size 1 in front where there are fewer than ndmin."""
        out = self.asarray(object, dtype, copy=copy)
        return out.reshape([1] * (ndmin - out.ndim) + list(out.shape))

    def ascontiguousarray(self, a: Any, dtype: Any = None) -> Tensor:
        """The data as an array of at least one dimension, with rows one after the other in memory."""
        out = self.asarray(a, dtype).contiguous()
        return out if out.ndim else out.reshape(1)

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

    def geomspace(self, start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Tensor:
        """num numbers from start to stop of one ratio; endpoint: stop is the last one."""
        out = start * _gradus.pow(stop / start, self.linspace(0, 1, num, endpoint))
        if endpoint and num > 1:
            out[-1] = stop
        return out.to(dtype_of(dtype or float))

    def tri(self, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
        """A matrix N x M with ones up to the k-th diagonal."""
        return _gradus.tril(self.ones((N, N if M is None else M), dtype), k)

    def tril_indices(self, n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
        """The rows and the columns of the elements up to the k-th diagonal of a matrix n x m."""
        return self.nonzero(self.tri(n, m, k))

    def triu_indices(self, n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, ...]:
        """The rows and the columns of the elements from the k-th diagonal on of a matrix n x m."""
        return self.nonzero(1 - self.tri(n, m, k - 1))

    def _window(self, function: Any, M: int, *args: float) -> Tensor:
        return function(M, False, *args, dtype=_gradus.float64, device=self.device)

    def bartlett(self, M: int) -> Tensor:
        """The triangular window of M numbers."""
        return self._window(_gradus.bartlett_window, M)

    def blackman(self, M: int) -> Tensor:
        """Blackman's window of M numbers."""
        return self._window(_gradus.blackman_window, M)

    def hamming(self, M: int) -> Tensor:
        """Hamming's window of M numbers."""
        return self._window(_gradus.hamming_window, M)

    def hanning(self, M: int) -> Tensor:
        """Hann's window of M numbers."""
        return self._window(_gradus.hann_window, M)

    def kaiser(self, M: int, beta: float) -> Tensor:
        """Kaiser's window of M numbers."""
        return self._window(_gradus.kaiser_window, M, beta)

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

    def indices(self, dimensions: Any, dtype: Any = int) -> Tensor:
        """For each dimension, the index of every element in it."""
        ranges = [self.arange(size, dtype=dtype) for size in dimensions]
        return _gradus.stack(_gradus.meshgrid(ranges, indexing="ij"))

    def ix_(self, *sequences: Any) -> tuple[Tensor, ...]:
        """Vectors as indices that choose rows, columns and so on: a[np.ix_([0, 2], [1])]."""
        out = []
        for i, each in enumerate(map(self._of, sequences)):
            each = each.nonzero().reshape(-1) if each.dtype == _gradus.bool else each
            out.append(each.reshape([1] * i + [-1] + [1] * (len(sequences) - i - 1)))
        return tuple(out)

    def unravel_index(self, indices: Any, shape: Any) -> tuple[Tensor, ...]:
        """The index in each dimension of elements that are numbered in the order of memory."""
        indices = self._of(indices)
        out: tuple[Tensor, ...] = ()
        for size in reversed(self._shape(shape)):
            out = (indices % size, *out)
            indices = indices // size
        return out

    def ravel_multi_index(self, multi_index: Any, dims: Any) -> Tensor:
        """The numbers in the order of memory of elements whose index in each dimension is given."""
        out = self.asarray(0)
        for index, size in zip(multi_index, self._shape(dims)):
            out = out * size + self._of(index)
        return out

    # --- Changes of an array

    def put(self, a: Any, ind: Any, v: Any) -> None:
        """Sets the elements of the flattened array at the indices; values that are too few begin anew."""
        a, ind = self._of(a), self._of(ind).reshape(-1)
        v = self._of(v).to(a.dtype).reshape(-1)
        if ind.numel() and v.numel():
            a.put_(ind, v.repeat(-(-ind.numel() // v.numel()))[:ind.numel()])

    def put_along_axis(self, arr: Any, indices: Any, values: Any, axis: int | None) -> None:
        """Sets the elements that take_along_axis chooses."""
        arr, indices = self._of(arr), self._of(indices)
        if axis is None:
            return self.put(arr, indices, values)
        shape = list(arr.shape)
        shape[axis] = indices.shape[axis]
        arr.scatter_(axis, indices.expand(shape), self._of(values).to(arr.dtype).expand(shape))

    def putmask(self, a: Any, mask: Any, values: Any) -> None:
        """Sets the elements where the mask holds, each to the value at its place; values that are too few begin anew."""
        where = self._of(mask).bool().reshape(-1).nonzero().reshape(-1)
        self.put(a, where, self._of(values).reshape(-1)[where % self.size(values)])

    def copyto(self, dst: Any, src: Any, where: Any = True) -> None:
        """Copies src into dst, where the condition holds."""
        dst, src = self._of(dst), self._of(src)
        dst.copy_(src if where is True else _gradus.where(self._of(where), src.to(dst.dtype), dst))

    def fill_diagonal(self, a: Any, val: Any) -> None:
        """Sets the elements whose indices are equal."""
        a = self._of(a)
        places = self.arange(builtins.min(a.shape)).to(a.device)
        a[(places,) * a.ndim] = self._of(val).to(a.dtype)

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

    def append(self, arr: Any, values: Any, axis: int | None = None) -> Tensor:
        """The array with values at its end, along a dimension, or both flattened."""
        arr, values = alike([self._of(arr), self._of(values)])
        return _gradus.cat([arr.reshape(-1), values.reshape(-1)] if axis is None else [arr, values], axis or 0)

    def insert(self, arr: Any, obj: Any, values: Any, axis: int | None = None) -> Tensor:
        """The array with values before the indices obj along a dimension, or of the flattened array."""
        arr = self._of(arr)
        arr, axis = (arr.reshape(-1), 0) if axis is None else (arr, axis % arr.ndim)
        arr, values = arr.moveaxis(axis, 0), self._of(values).to(arr.dtype)
        places = self.arange(len(arr))[obj] if isinstance(obj, slice) else self._of(obj)
        if values.ndim == arr.ndim and places.ndim:  # an integer inserts values as they are, indices along the dimension
            values = values.moveaxis(axis, 0)
        places = _gradus.where(places < 0, places + len(arr), places)
        if places.numel() == 1:
            count = len(values) if values.ndim == arr.ndim else 1
            places = places.reshape(1).expand(count)
        order = places.sort(stable=True)[1]
        places = places.clone()
        places[order] += self.arange(len(order)).to(places.device)
        out = arr.new_empty((len(arr) + len(places), *arr.shape[1:]))
        old = _gradus.ones(len(out), dtype=_gradus.bool, device=arr.device)
        old[places] = False
        out[places], out[old] = values.expand((len(places), *arr.shape[1:])), arr
        return out.moveaxis(0, axis)

    def delete(self, arr: Any, obj: Any, axis: int | None = None) -> Tensor:
        """The array without the elements at the indices along a dimension, or of the flattened array."""
        arr = self._of(arr)
        arr, axis = (arr.reshape(-1), 0) if axis is None else (arr, axis % arr.ndim)
        kept = _gradus.ones(arr.shape[axis], dtype=_gradus.bool, device=arr.device)
        kept[obj if isinstance(obj, (int, slice)) else self._of(obj)] = False
        return arr.index_select(axis, kept.nonzero().reshape(-1))

    def block(self, arrays: Any) -> Tensor:
        """An array of blocks in nested lists: those of the innermost lists are put together along the last dimension."""
        def depth(x: Any) -> int:
            return 1 + depth(x[0]) if isinstance(x, list) else 0

        def leaves(x: Any) -> list[Tensor]:
            return [leaf for each in x for leaf in leaves(each)] if isinstance(x, list) else [self._of(x)]

        levels = depth(arrays)
        dims = builtins.max(levels, *(leaf.ndim for leaf in leaves(arrays)))

        def joined(x: Any, level: int) -> Tensor:
            if not isinstance(x, list):
                return self.array(x, ndmin=dims)
            return _gradus.cat(alike([joined(each, level - 1) for each in x]), -level)

        return joined(arrays, levels)

    def pad(self, array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Tensor:
        """The array with so many elements more before and after it, for each dimension.

        mode: "constant", "edge" (the last element again), "wrap" (from the other side), "reflect" and "symmetric"
        (backwards from the edge, without and with the last element).
        Errors: ValueError for another mode.
        """
        def pairs(value: Any) -> list[list[Any]]:
            return self._of(value).expand(out.ndim, 2).tolist()

        out = self._of(array)
        for axis, ((before, after), values) in enumerate(zip(pairs(pad_width), pairs(constant_values))):
            n = out.shape[axis]
            if mode == "constant":
                edges = [out.new_full([*out.shape[:axis], count, *out.shape[axis + 1:]], value)
                         for count, value in zip((before, after), values)]
                out = _gradus.cat([edges[0], out, edges[1]], axis)
                continue
            places = _gradus.arange(-before, n + after, device=out.device)
            if mode == "edge":
                places = places.clamp(0, n - 1)
            elif mode == "wrap":
                places = places % n
            elif mode == "symmetric":
                places = _gradus.minimum(places % (2 * n), (-1 - places) % (2 * n))
            elif mode == "reflect":
                period = builtins.max(2 * (n - 1), 1)
                places = _gradus.minimum(places % period, -places % period)
            else:
                raise _gradus.ValueError(f"pad: mode is {mode!r}; expected 'constant', 'edge', 'wrap', 'reflect' or 'symmetric'")
            out = out.index_select(axis, places)
        return out

    def broadcast_arrays(self, *arrays: Any) -> tuple[Tensor, ...]:
        """The arrays in the shape that they broadcast to."""
        return _gradus.broadcast_tensors([self._of(each) for each in arrays])

    def unstack(self, x: Any, axis: int = 0) -> tuple[Tensor, ...]:
        """The slices along a dimension."""
        return self._of(x).unbind(axis)

    # --- Dtypes

    def result_type(self, *arrays_and_dtypes: Any) -> Any:
        """The dtype that NumPy computes with arrays of these dtypes in."""
        return common_dtype(*(each if isinstance(each, _NUMBERS) else self._of(each) if hasattr(each, "shape") else dtype_of(each)
                              for each in arrays_and_dtypes))

    def iinfo(self, type: Any) -> Any:
        """The limits of a dtype of integers: min, max, bits."""
        return iinfo(dtype_of(type))

    def finfo(self, dtype: Any) -> Any:
        """The limits of a dtype of floating point numbers: min, max, eps, tiny, bits."""
        return finfo(dtype_of(dtype))

    def set_printoptions(self, precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
                         linewidth: int | None = None, suppress: bool | None = None) -> None:
        """How arrays are printed; suppress=True: without exponents."""
        _print.set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode=None if suppress is None else not suppress)

    # --- Products

    def dot(self, a: Any, b: Any) -> Tensor:
        """Of vectors the inner product, of matrices the product, of others a sum over the last dimension
        of a and the last but one of b."""
        a, b = self._of(a), self._of(b)
        if a.ndim == 0 or b.ndim == 0:
            return called(_gradus.mul, [a, b], {})
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

    def vecdot(self, x1: Any, x2: Any, axis: int = -1) -> Tensor:
        """The inner products of vectors along a dimension; x1 is conjugated where it is complex."""
        return called(_gradus.linalg_vecdot, [self._of(x1), self._of(x2), axis], {})

    def einsum(self, subscripts: str, *operands: Any, optimize: Any = False) -> Tensor:
        """Sums of products by letters: "ij,jk->ik". optimize is taken, without effect."""
        return called(_gradus.einsum, [subscripts, [self._of(each) for each in operands]], {})

    def convolve(self, a: Any, v: Any, mode: str = "full") -> Tensor:
        """Sums of products of a vector and another that moves over it backwards.

        mode: "full" (wherever they overlap), "same" (as many as the longer one has), "valid" (where one is inside the other).
        Errors: ValueError for another mode.
        """
        if mode not in ("full", "same", "valid"):
            raise _gradus.ValueError(f"convolve: mode is {mode!r}; expected 'full', 'same' or 'valid'")
        a, v = alike([self._of(a), self._of(v)])
        a, v = (a, v) if len(a) >= len(v) else (v, a)
        x, y, edge = a.double() if _has_integers(a) else a, v.to(a.device).flip(0), len(v) - 1
        out = _gradus.conv1d(x.reshape(1, 1, -1), y.to(x.dtype).reshape(1, 1, -1), padding=0 if mode == "valid" else edge).reshape(-1)
        out = out[edge // 2:edge // 2 + len(a)] if mode == "same" else out
        return out.round().to(a.dtype) if _has_integers(a) else out

    def correlate(self, a: Any, v: Any, mode: str = "valid") -> Tensor:
        """Sums of products of a vector and another that moves over it; mode as of convolve."""
        return self.convolve(a, self._of(v).flip(0).conj(), mode)

    # --- Functions of numbers

    def cbrt(self, x: Any) -> Tensor:
        """The cube root."""
        x = self._floats(x)
        root = x.sign() * x.abs() ** (1 / 3)
        better = root - (root - x / root ** 2) / 3
        return _gradus.where(better.isfinite(), better, root)

    def interp(self, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Tensor:
        """The values at x of straight lines through the points xp, which rise, and fp; left and right: those outside."""
        x, xp, fp = (self._of(each).double() for each in (x, xp, fp))
        after = _gradus.searchsorted(xp, x.contiguous(), right=True).clamp(1, builtins.max(len(xp) - 1, 1))
        before, after = after - 1, after.clamp(max=len(xp) - 1)
        share = ((x - xp[before]) / (xp[after] - xp[before])).nan_to_num(0.0).clamp(0, 1)
        out = fp[before] + share * (fp[after] - fp[before])
        out = out if left is None else _gradus.where(x < xp[0], left, out)
        out = out if right is None else _gradus.where(x > xp[-1], right, out)
        return _gradus.where(x.isnan(), x, out)

    def polyfit(self, x: Any, y: Any, deg: int) -> Tensor:
        """The coefficients of the polynomial with the least squares of differences, that of the highest power first."""
        powers = _gradus.vander(self._of(x).double(), deg + 1)
        scale = (powers ** 2).sum(0).sqrt()
        out = self.linalg_lstsq(powers / scale, self._of(y).to(powers.dtype))[0]
        return (out.T / scale).T

    def polyval(self, p: Any, x: Any) -> Tensor:
        """The values at x of the polynomial with these coefficients, that of the highest power first."""
        p, x = alike([self._of(p), self._of(x)])
        out = _gradus.zeros_like(x)
        for each in p:
            out = out * x + each
        return out

    def vectorize(self, pyfunc: Any, otypes: Any = None) -> Any:
        """A function of arrays, which calls pyfunc with numbers, for each place. otypes: a list of the dtype of results."""
        @functools.wraps(pyfunc)
        def inner(*args: Any) -> Any:
            args = _gradus.broadcast_tensors([self._of(each) for each in args])
            values = [pyfunc(*each) for each in zip(*(x.reshape(-1).tolist() for x in args))]
            return self.array(values, otypes and otypes[0]).reshape(args[0].shape)

        return inner

    def apply_along_axis(self, func1d: Any, axis: int, arr: Any, *others: Any) -> Tensor:
        """What a function gives for each vector along a dimension, and other arguments."""
        arr = self._of(arr).moveaxis(axis, -1)
        out = [self._of(func1d(row, *others)) for row in self.asarray(arr.reshape(-1, arr.shape[-1])).unbind()]
        made = _gradus.stack(out).reshape([*arr.shape[:-1], *out[0].shape])
        return made.moveaxis(-1, axis) if out[0].ndim == 1 else made

    def gradient(self, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
        """Derivatives by central differences: an array, or a tuple of one for each of several dimensions.

        varargs: the distance of samples, one for all dimensions or each, or vectors with the places of the samples.
        """
        f = self._floats(f)
        axes = range(f.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        spacing = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
        out = tuple(_slope(f, self._of(each).to(f), dim, edge_order) for each, dim in zip(spacing, axes))
        return out[0] if len(out) == 1 else out

    def linalg_lstsq(self, a: Any, b: Any, rcond: float | None = None) -> tuple[Tensor, Tensor, int, Tensor]:
        """The x with the least squares of a @ x - b: x, the sums of squares (empty unless a has full rank and more rows than
        columns), the rank, and the singular values. rcond: those below this share of the largest one are 0."""
        a, b = alike([self._floats(a), self._floats(b)])
        rows, columns = a.shape
        rcond = finfo(a.dtype).eps * builtins.max(rows, columns) if rcond is None else rcond
        u, s, vh = _gradus.linalg_svd(a, False)
        large = s > rcond * s.max()
        rank, right = int(large.sum()), b.reshape(rows, -1)
        x = vh.mH @ (_gradus.where(large, 1 / s, 0.0).unsqueeze(1).to(a.dtype) * (u.mH @ right))
        squares = ((a @ x - right).abs() ** 2).sum(0)
        squares = squares if rank == columns < rows else squares[:0]
        return x.reshape([columns, *b.shape[1:]]), squares, rank, s

    # --- Reductions

    def _floats(self, a: Any) -> Tensor:
        a = self._of(a)
        return a.double() if _has_integers(a) else a

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
        a = self._floats(a)
        axis = tuple(range(a.ndim)) if axis is None else axis
        return function(a, axis, correction=ddof, keepdim=keepdims)

    def std(self, a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """The standard deviation; the sum of squares is divided by the number of elements - ddof."""
        return self._spread(_gradus.std, a, axis, ddof, keepdims)

    def var(self, a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Tensor:
        """The variance; the sum of squares is divided by the number of elements - ddof."""
        return self._spread(_gradus.var, a, axis, ddof, keepdims)

    def ptp(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The largest element less the smallest one, over some dimensions, by default all."""
        return self.max(a, axis, keepdims) - self.min(a, axis, keepdims)

    def average(self, a: Any, axis: Any = None, weights: Any = None) -> Tensor:
        """The mean with weights, of the shape of the array."""
        a = self._floats(a)
        axis = tuple(range(a.ndim)) if axis is None else axis
        if weights is None:
            return a.mean(axis)
        a, weights = alike([a, self._of(weights)])
        weights = weights.expand(a.shape)
        return (a * weights).sum(axis) / weights.sum(axis)

    def percentile(self, a: Any, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The element below which q percent lie, between two elements by its share."""
        a = self._floats(a)
        q = q / 100 if isinstance(q, (int, float)) else self._of(q).to(a.dtype) / 100
        return _gradus.quantile(a, q, axis, keepdims)

    def median(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The element in the middle, or the mean of both."""
        a = self._floats(a)
        return _gradus.quantile(a, 0.5, axis, keepdims)

    def _of_numbers(self, extreme: Any, least: float, a: Any, axis: Any, keepdims: bool) -> Tensor:
        a = self._of(a)
        if not a.dtype.is_floating_point:
            return extreme(a, axis, keepdims)
        nan = a.isnan()
        out = extreme(_gradus.where(nan, least, a), axis, keepdims)
        return _gradus.where(self.min(nan.int(), axis, keepdims) == 1, math.nan, out)

    def nanmax(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The largest element that is not NaN, over some dimensions, by default all."""
        return self._of_numbers(self.max, -math.inf, a, axis, keepdims)

    def nanmin(self, a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The smallest element that is not NaN, over some dimensions, by default all."""
        return self._of_numbers(self.min, math.inf, a, axis, keepdims)

    def maximum_accumulate(self, a: Any, axis: int = 0) -> Tensor:
        """The largest element so far along a dimension."""
        return _gradus.cummax(self._of(a), axis)[0]

    def minimum_accumulate(self, a: Any, axis: int = 0) -> Tensor:
        """The smallest element so far along a dimension."""
        return _gradus.cummin(self._of(a), axis)[0]

    def bincount(self, x: Any, weights: Any = None, minlength: int = 0) -> Tensor:
        """How often each integer from 0 on is there, or the sum of its weights."""
        weights = None if weights is None else self._of(weights).double()
        return _gradus.bincount(self._of(x), weights, minlength)

    def histogram(self, a: Any, bins: Any = 10, range: Any = None, density: bool = False,
                  weights: Any = None) -> tuple[Tensor, Tensor]:
        """How many elements are in each bin, or the sums of their weights, and the edges of the bins.

        bins: how many of one width, or their edges. range: the first and the last edge, by default the least and the
        largest element. density: shares for each unit of width.
        """
        a = self._of(a).reshape(-1)
        if isinstance(bins, int):
            low, high = (float(each) for each in range or ((a.min(), a.max()) if len(a) else (0, 1)))
            low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
            edges = self.linspace(low, high, bins + 1).to(self._floats(a))
        else:
            edges = self._of(bins)
        x, steps = alike([a, edges])
        inside = (x >= steps[0]) & (x <= steps[-1])
        places = (_gradus.searchsorted(steps, x[inside], right=True) - 1).clamp(max=len(edges) - 2)
        chosen = None if weights is None else self._of(weights).reshape(-1)[inside]
        counts = self.bincount(places, chosen, len(edges) - 1)
        if density:
            counts = counts.double() / counts.sum() / edges.double().diff()
        return counts, edges

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

    def _sorted(self, a: Any, axis: Any, kind: str | None, stable: bool | None) -> Any:
        a = self._of(a)
        stable = bool(stable) or kind in ("stable", "mergesort")
        return (a.reshape(-1) if axis is None else a).sort(stable=stable, dim=-1 if axis is None else axis)

    def sort(self, a: Any, axis: Any = -1, kind: str | None = None, stable: bool | None = None) -> Tensor:
        """The elements in rising order, along a dimension, or of the flattened array."""
        return self._sorted(a, axis, kind, stable)[0]

    def argsort(self, a: Any, axis: Any = -1, kind: str | None = None, stable: bool | None = None) -> Tensor:
        """The indices that bring the elements into rising order; kind="stable": equal ones stay in their order."""
        return self._sorted(a, axis, kind, stable)[1]

    def partition(self, a: Any, kth: Any, axis: Any = -1) -> Tensor:
        """The array with the smaller elements before the kth and the larger ones after it: all in rising order."""
        return self.sort(a, axis)

    def argpartition(self, a: Any, kth: Any, axis: Any = -1) -> Tensor:
        """The indices that partition an array."""
        return self.argsort(a, axis)

    def unique(self, ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
               axis: int | None = None) -> Any:
        """The different elements in rising order, or the different slices of a dimension.

        With return_index also where each is first, with return_inverse the place of each element among them, with
        return_counts how often each is there: a tuple in this order.
        """
        ar = self._of(ar)
        unique = functools.partial(_gradus._unique2, ar) if axis is None else functools.partial(_gradus.unique_dim, ar, axis)
        values, inverse, counts = unique(True, True, True)
        out = [values]
        if return_index:
            order = inverse.reshape(-1).sort(stable=True)[1]
            out.append(order[counts.cumsum(0) - counts])
        out += [inverse] * return_inverse + [counts] * return_counts
        return out[0] if len(out) == 1 else tuple(out)

    def unique_values(self, x: Any) -> Tensor:
        """The different elements in rising order."""
        return _gradus._unique2(self._of(x))[0]

    def intersect1d(self, ar1: Any, ar2: Any) -> Tensor:
        """The elements that both arrays have, in rising order."""
        values = self.unique(ar1)
        return values[_gradus.isin(*alike([values, self.unique(ar2)]))]

    def union1d(self, ar1: Any, ar2: Any) -> Tensor:
        """The elements that one of two arrays has, in rising order."""
        return self.unique(self.append(ar1, ar2))

    def setdiff1d(self, ar1: Any, ar2: Any) -> Tensor:
        """The elements of the first array that the second one has not, in rising order."""
        values = self.unique(ar1)
        return values[~_gradus.isin(*alike([values, self.unique(ar2)]))]

    def digitize(self, x: Any, bins: Any, right: bool = False) -> Tensor:
        """The number of the bin of each element, between edges that rise or fall; right: an edge belongs to the bin before it."""
        x, bins = alike([self._of(x), self._of(bins)])
        if bool(bins[0] <= bins[-1]):
            return _gradus.searchsorted(bins, x, right=not right)
        return len(bins) - _gradus.searchsorted(bins.flip(0), x, right=not right)

    def unique_counts(self, x: Any) -> tuple[Tensor, Tensor]:
        """The different elements in rising order, and how often each is there."""
        values, _, counts = _gradus._unique2(self._of(x), True, False, True)
        return values, counts

    def unique_inverse(self, x: Any) -> tuple[Tensor, Tensor]:
        """The different elements in rising order, and for each element the place of its value there."""
        values, inverse, _ = _gradus._unique2(self._of(x), True, True)
        return values, inverse

    def take(self, a: Any, indices: Any, axis: int | None = None) -> Tensor:
        """The elements at the indices along a dimension, or of the flattened array."""
        a, indices = self._of(a), self._of(indices)
        a = a.reshape(-1) if axis is None else a
        axis = 0 if axis is None else axis % a.ndim
        out = a.index_select(axis, indices.reshape(-1) % a.shape[axis])
        return out.reshape(tuple(a.shape[:axis]) + tuple(indices.shape) + tuple(a.shape[axis + 1:]))

    def where(self, condition: Any, *values: Any) -> Any:
        """Where the condition holds, x, otherwise y; of the condition alone, the places where it holds."""
        condition = self._of(condition)
        if not values:
            return self.nonzero(condition)
        if len(values) != 2:
            raise _gradus.TypeError("where: expected a condition, or a condition and two arrays")
        values = tuple(each if isinstance(each, _NUMBERS) else self._of(each) for each in values)
        given = [each for each in values if isinstance(each, Tensor)]
        dtype = common_dtype(*values) if given else common_dtype(*map(self.asarray, values))
        return _gradus.where(condition.bool(), *(self._of(each).to(dtype).to(condition.device) for each in values))

    def nonzero(self, a: Any) -> tuple[Tensor, ...]:
        """The indices of the elements that are not 0, a vector for each dimension."""
        return tuple(_gradus.nonzero(self._of(a)).unbind(1))

    def flatnonzero(self, a: Any) -> Tensor:
        """The indices of the elements of the flattened array that are not 0."""
        return _gradus.nonzero(self._of(a).reshape(-1)).reshape(-1)

    def array_equal(self, a1: Any, a2: Any) -> bool:
        """Whether two arrays have the same shape and elements."""
        return bool(_gradus.equal(*alike([self._of(a1), self._of(a2)])))


def _slope(f: Tensor, h: Tensor, axis: int, edge_order: int) -> Tensor:
    """The derivative along a dimension of samples at the distance h, or at the places h."""
    f, n = f.moveaxis(axis, -1), f.shape[axis]
    h = h.diff() if h.ndim else h.expand(n - 1)
    slopes = f.diff() / h
    left, right = h[:-1], h[1:]
    inner = (slopes[..., :-1] * right + slopes[..., 1:] * left) / (left + right)
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        bend = slopes.diff() / (left + right)
        first, last = first - bend[..., :1] * h[0], last + bend[..., -1:] * h[-1]
    return _gradus.cat([first, inner, last], -1).moveaxis(-1, axis)


class Grid:
    """mgrid and ogrid: arrays of the coordinates of a grid, from slices; a step 5j means five numbers with the last one."""

    def __init__(self, arrays: Functions, sparse: bool) -> None:
        self._arrays, self._sparse = arrays, sparse

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _line(self._arrays, key)
        lines = [_line(self._arrays, each) for each in key]
        if self._sparse:
            return self._arrays.ix_(*lines)
        return as_arrays(_gradus.stack(_gradus.meshgrid(alike(lines), indexing="ij")))


class Joined:
    """r_ and c_: arrays, numbers and slices put together, as rows of vectors or as columns."""

    def __init__(self, arrays: Functions, columns: bool) -> None:
        self._arrays, self._columns = arrays, columns

    def __getitem__(self, key: Any) -> Tensor:
        arrays = self._arrays
        parts = [_line(arrays, each) if isinstance(each, slice) else arrays.array(each, ndmin=1)
                 for each in (key if isinstance(key, tuple) else (key,))]
        if self._columns:
            parts = [each.reshape(-1, 1) if each.ndim == 1 else each for each in parts]
        return as_arrays(_gradus.cat(alike(parts), -1 if self._columns else 0))


def _line(arrays: Functions, key: slice) -> Tensor:
    start = 0 if key.start is None else key.start
    if isinstance(key.step, complex):
        return arrays.linspace(start, key.stop, int(abs(key.step)))
    return arrays.arange(start, key.stop, 1 if key.step is None else key.step)


@with_arrays
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

    def _expanded(self, size: Any, *parameters: Any) -> tuple[Any, ...]:
        """The size, by default the shape of parameters that are arrays, and the parameters: numbers stay what they are."""
        out = [each if isinstance(each, _NUMBERS) else self._arrays._of(each) for each in parameters]
        shapes = [each.shape for each in out if isinstance(each, Tensor)]
        return (tuple(broadcast_shapes(*shapes)) if size is None and shapes else size, *out)

    def _counted(self, function: Any, size: Any, *parameters: Any) -> Any:
        size, *given = self._expanded(size, *parameters)
        shape = () if size is None else self._arrays._shape(size)
        full = [self._arrays.asarray(each, float).expand(shape).contiguous() for each in given]
        out = function(*full, generator=self._generator).long()
        return out.item() if size is None else out

    def seed(self, seed: int) -> None:
        """Seeds the generators of all devices."""
        _gradus.manual_seed(seed)

    def random(self, size: Any = None) -> Any:
        """Uniform numbers from 0 to 1."""
        return self._made(_gradus.rand, size)

    random_sample = random

    def rand(self, *size: Any) -> Any:
        """Uniform numbers from 0 to 1, with the sizes as arguments of their own."""
        return self.random(size or None)

    def standard_normal(self, size: Any = None) -> Any:
        """Numbers of the normal distribution with mean 0 and deviation 1."""
        return self._made(_gradus.randn, size)

    def randn(self, *size: Any) -> Any:
        """standard_normal with the sizes as arguments of their own."""
        return self.standard_normal(size or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers from low to high."""
        size, low, high = self._expanded(size, low, high)
        return low + (high - low) * self.random(size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of the normal distribution with mean loc and deviation scale."""
        size, loc, scale = self._expanded(size, loc, scale)
        return loc + scale * self.standard_normal(size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Numbers of the exponential distribution with mean scale."""
        size, scale = self._expanded(size, scale)
        u = self.random(size)
        return -scale * (math.log1p(-u) if size is None else _gradus.log1p(-u))

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """The numbers of events where lam are expected."""
        return self._counted(_gradus.poisson, size, lam)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """The numbers of successes among n trials of probability p."""
        return self._counted(_gradus.binomial, size, n, p)

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

    def shuffle(self, x: Any) -> None:
        """Brings the rows of an array, or the elements of a list, into random order, in place."""
        order = self.permutation(len(x))
        if isinstance(x, list):
            x[:] = [x[i] for i in order.tolist()]
        else:
            rows = self._arrays._of(x)
            rows.copy_(rows[order.to(rows.device)])

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Rows of an array, or numbers of 0 to a - 1, at random, with the probabilities p, by default all alike."""
        values = self._arrays.arange(a) if isinstance(a, int) else self._arrays.asarray(a)
        count = 1 if size is None else math.prod(self._arrays._shape(size))
        if not replace and count > len(values):
            raise _gradus.ValueError(f"choice: {count} different elements of {len(values)}; expected no more "
                                     "than there are, or replace=True")
        if p is not None:
            p = self._arrays.asarray(p, float)
            if p.shape != values.shape[:1] or abs(float(p.sum()) - 1) > 1e-7 or bool((p < 0).any()):
                raise _gradus.ValueError(f"choice: p has the shape {tuple(p.shape)} and the sum {float(p.sum())}; expected "
                                         f"{len(values)} numbers from 0 on that sum to 1; divide them by their sum")
            places = _gradus.multinomial(p, count, replace, generator=self._generator)
        elif replace:
            places = self.randint(len(values), size=count)
        else:
            places = self.permutation(len(values))[:count]
        if size is None:
            return values[places[0]].item() if values.ndim == 1 else values[places[0]]
        return values[places].reshape([*self._arrays._shape(size), *values.shape[1:]])

    def default_rng(self, seed: int | None = None) -> Any:
        """A generator of its own with these methods."""
        generator = _gradus.Generator(self._arrays.device)
        if seed is None:
            generator.seed()
        else:
            generator.manual_seed(seed)
        return Random(self._arrays, generator)
