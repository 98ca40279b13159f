"""Datasets, samplers and loaders, under the names of torch.utils.data."""

from __future__ import annotations

import bisect
import collections
import concurrent.futures
import contextlib
import itertools
import multiprocessing
import pickle
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ... import _gradus
from ..._gradus import Tensor
from .distributed import DistributedSampler as DistributedSampler
from .sampler import BatchSampler as BatchSampler, RandomSampler as RandomSampler, Sampler as Sampler, \
    SequentialSampler as SequentialSampler, SubsetRandomSampler as SubsetRandomSampler, \
    WeightedRandomSampler as WeightedRandomSampler

_T = TypeVar("_T", covariant=True)


class Dataset(Generic[_T]):
    """Examples by place: a class derives from it and has __getitem__ and __len__."""

    def __getitem__(self, index: Any) -> _T:
        raise NotImplementedError("a Dataset needs __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T]):
    """Examples one after the other: a class derives from it and has __iter__."""

    def __iter__(self) -> Iterator[_T]:
        raise NotImplementedError("an IterableDataset needs __iter__")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class ChainDataset(IterableDataset[_T]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(each) for each in self.datasets)


class StackDataset(Dataset[Any]):
    """Examples that are tuples, or dictionaries, of the examples of several datasets at one place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise _gradus.ValueError("StackDataset: expected datasets either by place or by name")
        self.datasets: Any = args or kwargs
        parts = list(kwargs.values()) or list(args)
        if len({len(part) for part in parts}) > 1:
            raise _gradus.ValueError("StackDataset: the datasets have different sizes")
        self._length = len(parts[0])

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __len__(self) -> int:
        return self._length


class TensorDataset(Dataset["tuple[Tensor, ...]"]):
    """Examples that are the slices of tensors along dimension 0.

    >>> import gradus
    >>> from gradus.utils.data import TensorDataset
    >>> data = TensorDataset(gradus.arange(6).view(3, 2), gradus.tensor([0, 1, 0]))
    >>> data[1], len(data)
    ((tensor([2, 3]), tensor(1)), 3)
    """

    def __init__(self, *tensors: Tensor) -> None:
        if len({len(tensor) for tensor in tensors}) > 1:
            raise _gradus.ValueError("TensorDataset: the tensors have different sizes of dimension 0")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset[_T]):
    """Datasets one after the other. Errors: ValueError for none; TypeError for an IterableDataset; IndexError out of range."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise _gradus.ValueError("ConcatDataset: datasets is empty; expected one or more")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise _gradus.TypeError("ConcatDataset: datasets has an IterableDataset; expected datasets with __getitem__, "
                                    "use ChainDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise _gradus.IndexError(f"ConcatDataset: index is {index}; expected {-len(self)} to {len(self) - 1}")
        which = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[which][place - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset[_T]):
    """Some examples of a dataset."""

    def __init__(self, dataset: Dataset[_T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> _T:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __getitems__(self, indices: list[int]) -> Any:
        """The examples of a batch, by one call where the dataset takes one."""
        of_many = getattr(self.dataset, "__getitems__", None)
        if of_many is None or type(self).__getitem__ is not Subset.__getitem__:
            return [self[i] for i in indices]
        return of_many([self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float],
                 generator: _gradus.Generator | None = None) -> list[Subset[Any]]:
    """Parts of a dataset in random order; lengths are numbers of examples, or shares that sum to 1.

    >>> from gradus.utils.data import random_split
    >>> [len(part) for part in random_split(range(10), [0.8, 0.2])]
    [8, 2]
    """
    total = len(dataset)
    if abs(sum(lengths) - 1) < 1e-6 and any(0 < length < 1 for length in lengths):
        sizes = [int(total * length) for length in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != total:
        raise _gradus.ValueError(
            f"random_split: the lengths sum to {sum(lengths)}; expected {total}, the size of the dataset"
        )
    order = _gradus.randperm(total, generator=generator).tolist()
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size:end]) for end, size in zip(ends, sizes)]


def default_collate(batch: Sequence[Any]) -> Any:
    """A batch of a list of examples: tensors are stacked, numbers become tensors."""
    first = batch[0]
    if isinstance(first, _gradus.Tensor):
        return _gradus.stack(list(batch))
    if hasattr(first, "__array_interface__"):
        return _gradus.stack([_gradus.as_tensor(each) for each in batch])
    if isinstance(first, (bool, int)):
        return _gradus.tensor(list(batch))
    if isinstance(first, float):
        return _gradus.tensor(list(batch), dtype=_gradus.float64)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if len({len(each) for each in batch}) > 1:
            raise _gradus.ValueError(f"default_collate: examples have {sorted({len(each) for each in batch})} items; "
                                     "expected as many in each, give a collate_fn that pads them")
        return [default_collate(part) for part in zip(*batch)]
    raise TypeError(f"default_collate: examples of type {type(first).__name__}; give a collate_fn")


def default_convert(data: Any) -> Any:
    """Arrays of NumPy as tensors, within lists and dictionaries, too."""
    if hasattr(data, "__array_interface__"):
        return _gradus.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(each) for each in data]
    return data


class _Failure:
    """An error of a worker, with its traceback as text."""

    def __init__(self, error: Exception) -> None:
        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.dumps(self.error)
            error = self.error
        except Exception:
            error = RuntimeError(str(self.error))
        return _failure, (self.text, error)

    def raise_again(self) -> None:
        kind = type(self.error)
        message = f"Caught {kind.__name__} in a worker of DataLoader.\nOriginal {self.text}"
        try:
            error = kind(message)
        except Exception:
            error = RuntimeError(message)
        raise error from None


def _failure(text: str, error: Exception) -> _Failure:
    out = _Failure.__new__(_Failure)
    out.text, out.error = text, error
    return out


class WorkerInfo(NamedTuple):
    """Which worker process of a DataLoader this is: its number, and the batch's seed."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker: dict[str, Any] = {}


def get_worker_info() -> WorkerInfo | None:
    """What a worker process of a DataLoader is told of itself; None in any other process."""
    return _worker.get("info")


def _start_worker(dataset: Any, collate: Any, init: Any, workers: int, counter: Any) -> None:
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    # A terminal interrupts the workers, too; the process that they work for ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker.update(collate=collate, info=WorkerInfo(number, workers, 0, dataset))
    _gradus.set_num_threads(1)
    if init is not None:
        init(number)


def _seeded(seed: int) -> WorkerInfo:
    """Begins random numbers anew: those of gradus, of Python, and of NumPy where the program uses it."""
    info: WorkerInfo = _worker["info"]._replace(seed=seed)
    _worker["info"] = info
    _gradus.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    return info


def _fetched(dataset: Any, collate: Any, indices: Any, batched: bool) -> Any:
    """The batch of some indices, or the example of one."""
    if not batched:
        return collate(dataset[indices])
    of_many = getattr(dataset, "__getitems__", None)
    return collate([dataset[i] for i in indices] if of_many is None else of_many(indices))


def _fetch_in_worker(indices: Any, seed: int, batched: bool) -> Any:
    # Random numbers belong to the batch, and not to the worker that happens to make it.
    info = _seeded(seed)
    try:
        return _fetched(info.dataset, _worker["collate"], indices, batched)
    except Exception as error:
        return _Failure(error)


def _iterated(dataset: Any, collate: Any, batch_size: int | None, drop_last: bool) -> Iterator[Any]:
    """The batches of an iterable dataset."""
    examples = iter(dataset)
    if batch_size is None:
        yield from map(collate, examples)
        return
    while batch := list(itertools.islice(examples, batch_size)):
        if len(batch) == batch_size or not drop_last:
            yield collate(batch)


class _End:
    """What a worker returns after its last batch."""


def _next_in_worker(seed: int | None, batch_size: int | None, drop_last: bool) -> Any:
    """The next batch of this worker's own iteration, which a seed begins."""
    try:
        if seed is not None:
            _worker["batches"] = _iterated(_seeded(seed).dataset, _worker["collate"], batch_size, drop_last)
        return next(_worker["batches"], _End())
    except Exception as error:
        return _Failure(error)


def _check_options(batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, num_workers: int, drop_last: bool,
                   timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    """Options of a DataLoader that exclude each other, or that mean nothing."""
    chosen = [name for name, given in (("batch_size", batch_size != 1), ("shuffle", shuffle), ("sampler", sampler is not None),
                                       ("drop_last", drop_last)) if given]
    for wrong, text in (
        (num_workers < 0, f"num_workers is {num_workers}; expected 0 or more"),
        (timeout < 0, f"timeout is {timeout}; expected 0 or more seconds"),
        (batch_size is not None and batch_size < 1, f"batch_size is {batch_size}; expected 1 or more, or None"),
        (num_workers == 0 and prefetch_factor is not None, f"prefetch_factor is {prefetch_factor}, and there are no workers; "
                                                           "raise num_workers, or leave it out"),
        (num_workers == 0 and persistent_workers, "persistent_workers is True, and there are no workers; raise num_workers, "
                                                  "or leave it out"),
        (batch_sampler is not None and chosen, f"batch_sampler is given, and {' and '.join(chosen)}; leave out one of both"),
        (sampler is not None and shuffle, "sampler is given, and shuffle is True; leave out one of both"),
        (batch_size is None and drop_last, "batch_size is None, and drop_last is True; there is no batch to drop"),
    ):
        if wrong:
            raise _gradus.ValueError(f"DataLoader: {text}")


_FIXED = ("batch_sampler", "batch_size", "dataset", "drop_last", "persistent_workers", "sampler")


class DataLoader(Generic[_T]):
    """Batches of a dataset. Their order is the same whatever num_workers is.

    num_workers: processes that make the batches; 0: the calling thread makes them. They are forked on Linux where
    there is no GPU, and else begin anew and get the dataset by pickle. In a process
    each batch begins with a seed of its own for gradus, random and NumPy, so its random numbers do not
    depend on num_workers either. persistent_workers, pin_memory_device, in_order: taken, without effect.
    Once it is made, the dataset, the samplers, batch_size, drop_last and persistent_workers are not assigned: ValueError.

    >>> import gradus
    >>> from gradus.utils.data import DataLoader, TensorDataset
    >>> [batch[0].tolist() for batch in DataLoader(TensorDataset(gradus.arange(5)), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    _made = False

    def __init__(self, dataset: Dataset[_T], batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
                 collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Callable[[int], Any] | None = None,
                 multiprocessing_context: Any = None, generator: _gradus.Generator | None = None, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False,
                 pin_memory_device: str = "", in_order: bool = True) -> None:
        _check_options(batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last, timeout, prefetch_factor,
                       persistent_workers)
        self.dataset, self.num_workers = dataset, num_workers
        self.batch_size = batch_size if batch_sampler is None else None
        self.collate_fn: Callable[[Any], Any] = \
            collate_fn or (default_convert if batch_size is None and batch_sampler is None else default_collate)
        self.pin_memory, self.drop_last, self.generator = pin_memory, drop_last, generator
        self.worker_init_fn, self.timeout = worker_init_fn, timeout
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers, self.pin_memory_device, self.in_order = persistent_workers, pin_memory_device, in_order
        self.multiprocessing_context = multiprocessing_context
        self.batch_sampler = batch_sampler
        self.sampler = sampler
        if isinstance(dataset, IterableDataset):
            if shuffle or sampler or batch_sampler:
                raise _gradus.ValueError("DataLoader: an IterableDataset takes no shuffle, sampler or batch_sampler")
        elif batch_sampler is None:
            if sampler is None:
                if not hasattr(dataset, "__len__"):
                    raise _gradus.TypeError(f"DataLoader: {type(dataset).__name__} has no length; expected a dataset with "
                                            "__len__ and __getitem__, an IterableDataset, or a sampler")
                self.sampler = RandomSampler(dataset, generator=generator) if shuffle else \
                    SequentialSampler(dataset)
            if batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made and name in _FIXED:
            raise _gradus.ValueError(f"DataLoader: {name} is assigned after the {type(self).__name__} was made; "
                                     "expected it at construction, make another one")
        super().__setattr__(name, value)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)  # type: ignore[arg-type]  # Python says where it has none
            size = self.batch_size or 1
            return count // size if self.drop_last else -(-count // size)
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)

    def _batches(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            if self.num_workers:
                yield from self._from_iterating_workers()
            else:
                yield from _iterated(self.dataset, self.collate_fn, self.batch_size, self.drop_last)
            return
        batched = self.batch_sampler is not None
        indices = self.batch_sampler if batched else self.sampler
        if self.num_workers:
            yield from self._from_workers(iter(indices), batched)
        else:
            yield from (_fetched(self.dataset, self.collate_fn, each, batched) for each in indices)

    def _from_iterating_workers(self) -> Iterator[Any]:
        """A batch of each worker in turn; each iterates its own copy of the dataset."""
        context = self._context()
        seed = int(_gradus.randint(0, 2**62, (), generator=self.generator).item())
        with contextlib.ExitStack() as stack:
            workers = collections.deque(stack.enter_context(concurrent.futures.ProcessPoolExecutor(
                1, mp_context=context, initializer=_start_worker,
                initargs=(self.dataset, self.collate_fn, self.worker_init_fn, self.num_workers, context.Value("i", i))))
                for i in range(self.num_workers))
            # Each worker makes its next batch while the others are waited for.
            ahead = collections.deque((worker, worker.submit(_next_in_worker, seed + i, self.batch_size, self.drop_last))
                                      for i, worker in enumerate(workers))
            while ahead:
                worker, made = ahead.popleft()
                batch = made.result(self.timeout or None)
                if isinstance(batch, _Failure):
                    batch.raise_again()
                if isinstance(batch, _End):
                    continue
                ahead.append((worker, worker.submit(_next_in_worker, None, self.batch_size, self.drop_last)))
                yield batch

    def _context(self) -> Any:
        context = self.multiprocessing_context
        if context is not None and not isinstance(context, str):
            return context
        # As PyTorch: a forked worker needs no pickle and no guard of the main module. One that GPUs are used by is not forked.
        forks = sys.platform == "linux" and not _gradus._cuda.is_available()
        return multiprocessing.get_context(context or ("fork" if forks else "spawn"))

    def _from_workers(self, indices: Iterator[Any], batched: bool) -> Iterator[Any]:
        context = self._context()
        with concurrent.futures.ProcessPoolExecutor(
                self.num_workers, mp_context=context, initializer=_start_worker,
                initargs=(self.dataset, self.collate_fn, self.worker_init_fn, self.num_workers,
                          context.Value("i", 0))) as workers:
            ahead: collections.deque[Any] = collections.deque()
            # The sampler draws its order before the seed: it is the same without workers.
            first = list(itertools.islice(indices, self.num_workers * (self.prefetch_factor or 1)))
            seed = int(_gradus.randint(0, 2**62, (), generator=self.generator).item())
            remaining = zip(itertools.chain(first, indices), itertools.count(seed))
            try:
                for each in itertools.islice(remaining, len(first)):
                    ahead.append(workers.submit(_fetch_in_worker, *each, batched))
                while ahead:
                    batch = ahead.popleft().result(self.timeout or None)
                    for each in itertools.islice(remaining, 1):
                        ahead.append(workers.submit(_fetch_in_worker, *each, batched))
                    if isinstance(batch, _Failure):
                        batch.raise_again()
                    yield batch
            finally:  # nobody waits for the other batches
                workers.shutdown(cancel_futures=True)

    def __iter__(self) -> Iterator[Any]:
        pins = self.pin_memory and _gradus._cuda.is_available()
        if self.pin_memory and not pins:
            warnings.warn("DataLoader: pin_memory is on, and there is no GPU; the batches are not pinned", stacklevel=2)
        for batch in self._batches():
            yield _pinned(batch) if pins else batch


def _pinned(batch: Any) -> Any:
    if isinstance(batch, _gradus.Tensor):
        return batch.pin_memory()
    if isinstance(batch, dict):
        return {key: _pinned(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(_pinned, batch))
    return batch


from . import dataloader as dataloader, dataset as dataset  # noqa: E402  they hold names of this file
