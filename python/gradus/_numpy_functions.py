"""Functions of NumPy that gradus has with other arguments, results or defaults."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

from . import _gradus
from ._forms import finfo
from ._gradus import Tensor
from ._numpy import _NUMBERS, _has_integers, alike, called, common_dtype, dtype_of, with_arrays
from ._numpy_making import Making


@with_arrays
class Functions(Making):
    """The public methods are functions of gradus.numpy, and on a GPU those of gradus.cupy."""

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
