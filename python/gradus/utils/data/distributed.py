"""DistributedSampler: each rank's share of a dataset, as torch.utils.data.distributed has it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ... import _gradus
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """Every num_replicas-th index of an order that all ranks share, from rank on.

    num_replicas, rank: by default those of the process group. shuffle: the order is random, and
    another one after set_epoch(n). drop_last: where the ranks do not divide the dataset, the last
    indices are left out; otherwise the first ones come twice.
    Errors: ValueError unless 0 <= rank < num_replicas.

    >>> from gradus.utils.data import DistributedSampler
    >>> [list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(self, dataset: Any, num_replicas: int | None = None, rank: int | None = None,
                 shuffle: bool = True, seed: int = 0, drop_last: bool = False) -> None:
        if num_replicas is None or rank is None:
            from ... import distributed
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise _gradus.ValueError(f"DistributedSampler: rank is {rank} and num_replicas {num_replicas}; "
                                     "expected 0 <= rank < num_replicas")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0

    @property
    def num_samples(self) -> int:
        size = len(self.dataset)
        return size // self.num_replicas if self.drop_last else -(-size // self.num_replicas)

    def set_epoch(self, epoch: int) -> None:
        """Counts for the next iteration."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = _gradus.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = _gradus.randperm(len(order), generator=generator).tolist()
        shared = itertools.islice(itertools.cycle(order), self.num_samples * self.num_replicas)
        return itertools.islice(shared, self.rank, None, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples
