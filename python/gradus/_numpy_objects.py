"""Objects of NumPy: grids, joined ranges and the generator of random numbers."""

from __future__ import annotations

import math
from typing import Any

from . import _gradus
from ._forms import broadcast_shapes
from ._gradus import Tensor
from ._numpy import _NUMBERS, alike, as_arrays, dtype_of, with_arrays
from ._numpy_functions import Functions


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
