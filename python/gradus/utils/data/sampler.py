"""Orders of the examples of a dataset, under the names of torch.utils.data.sampler."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

from ... import _gradus

_T = TypeVar("_T", covariant=True)


class Sampler(Generic[_T]):
    """An order of indices: a class derives from it and has __iter__."""

    def __iter__(self) -> Iterator[_T]:
        raise NotImplementedError("a Sampler needs __iter__")


class SequentialSampler(Sampler[int]):
    """All indices in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All indices in random order, or so many drawn with replacement.

    num_samples: by default the size of data_source; the order is followed by another one where it is more.
    Errors: ValueError where it is less than 1, as for an empty data_source.
    """

    def __init__(self, data_source: Any, replacement: bool = False, num_samples: int | None = None,
                 generator: _gradus.Generator | None = None) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if self.num_samples < 1:
            raise _gradus.ValueError(f"RandomSampler: num_samples is {self.num_samples}; expected 1 or more, and a data_source "
                                     "that is not empty")

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        if self.replacement:
            drawn = _gradus.randint(0, size, (self.num_samples,), generator=self.generator)
            return iter(drawn.tolist())
        rounds = range(0, self.num_samples, size)
        orders = (_gradus.randperm(size, generator=self.generator).tolist() for _ in rounds)
        return itertools.islice(itertools.chain.from_iterable(orders), self.num_samples)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler["list[int]"]):
    """Lists of batch_size indices of another sampler."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if batch_size < 1:
            raise _gradus.ValueError(f"BatchSampler: batch_size is {batch_size}; expected 1 or more")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: _gradus.Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = _gradus.randperm(len(self.indices), generator=self.generator).tolist()
        return (self.indices[i] for i in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples indices, drawn by weights that need not add up to 1.

    replacement: whether an index may be drawn more than once.

    >>> from gradus.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True,
                 generator: _gradus.Generator | None = None) -> None:
        self.weights = _gradus.as_tensor(weights, dtype=_gradus.float64)
        if self.weights.dim() != 1:
            raise _gradus.ValueError(
                f"WeightedRandomSampler: weights has shape {tuple(self.weights.shape)}; expected one for each example")
        if num_samples <= 0:
            raise _gradus.ValueError(f"WeightedRandomSampler: num_samples is {num_samples}; expected 1 or more")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = _gradus.multinomial(self.weights, self.num_samples, self.replacement,
                                    generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples
