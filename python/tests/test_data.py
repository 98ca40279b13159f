"""Samplers, and what worker processes of a DataLoader are told."""

import random

import pytest

import gradus
from gradus.utils.data import (DataLoader, Dataset, DistributedSampler, SubsetRandomSampler, WeightedRandomSampler,
                               get_worker_info)


def test_a_subset_comes_in_random_order():
    sampler = SubsetRandomSampler([3, 5, 8, 13], generator=gradus.Generator().manual_seed(1))
    orders = {tuple(sampler) for _ in range(20)}
    assert len(sampler) == 4 and len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {(3, 5, 8, 13)}


def test_weights_say_how_often_an_index_is_drawn():
    gradus.manual_seed(0)
    drawn = list(WeightedRandomSampler([1, 0, 3], 4000))
    assert len(drawn) == 4000 and drawn.count(1) == 0
    assert 0.7 < drawn.count(2) / 4000 < 0.8
    assert sorted(WeightedRandomSampler(gradus.ones(4), 4, replacement=False)) == [0, 1, 2, 3]
    with pytest.raises(gradus.ValueError, match="weights has shape"):
        WeightedRandomSampler([[1.0]], 2)
    with pytest.raises(gradus.ValueError, match="num_samples is 0"):
        WeightedRandomSampler([1.0], 0)


@pytest.mark.parametrize("size, ranks", [(12, 3), (13, 4), (2, 3), (0, 2)])
def test_ranks_share_a_dataset(size, ranks):
    def of(rank, **options):
        return DistributedSampler(range(size), ranks, rank, **options)

    for shuffle in (False, True):
        shares = [list(of(rank, shuffle=shuffle)) for rank in range(ranks)]
        assert {len(share) for share in shares} == {len(of(0))}
        assert sorted(set(sum(shares, []))) == list(range(size))
        shares = [list(of(rank, shuffle=shuffle, drop_last=True)) for rank in range(ranks)]
        assert len(sum(shares, [])) == len(set(sum(shares, []))) == size // ranks * ranks


def test_each_epoch_has_an_order_of_its_own():
    sampler = DistributedSampler(range(100), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
    with pytest.raises(gradus.ValueError, match="rank is 2 and num_replicas 2"):
        DistributedSampler(range(4), 2, 2)


def test_the_process_group_gives_the_ranks():
    shares = {}

    def share(rank):
        shares[rank] = list(DistributedSampler(range(3), shuffle=False))

    gradus.distributed.spawn_threads(3, share)
    assert shares == {0: [0], 1: [1], 2: [2]}


class Noise(Dataset):
    """Random numbers, and the worker that drew them."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        info = get_worker_info()
        assert info.dataset is not None and 0 <= info.id < info.num_workers
        return gradus.rand(3), random.random()


@pytest.mark.parametrize("workers", [1, 3])
def test_random_numbers_belong_to_the_batch(workers):
    def batches(count):
        loader = DataLoader(Noise(), 2, num_workers=count, generator=gradus.Generator().manual_seed(7))
        return [(x.tolist(), y.tolist()) for x, y in loader]

    assert get_worker_info() is None
    assert batches(workers) == batches(2)
    assert len({str(batch) for batch in batches(2)}) == 3
