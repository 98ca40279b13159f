"""Functions of NumPy that make arrays, join them and change their shapes."""

from __future__ import annotations

import builtins
from typing import Any

from . import _gradus, _print
from ._forms import finfo, iinfo
from ._gradus import Tensor
from ._numpy import _NUMBERS, Arrays, alike, common_dtype, dtype_of, with_arrays


@with_arrays
class Making(Arrays):
    """Functions that make arrays, join them and change their shapes."""

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

    def nonzero(self, a: Any) -> tuple[Tensor, ...]:
        """The indices of the elements that are not 0, a vector for each dimension."""
        return tuple(_gradus.nonzero(self._of(a)).unbind(1))
