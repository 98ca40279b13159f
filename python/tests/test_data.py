"""Samplers, and what worker processes of a DataLoader are told."""

import random

import numpy as np
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
        return gradus.rand(3), random.random() + np.random.rand()


@pytest.mark.parametrize("workers", [1, 3])
def test_random_numbers_belong_to_the_batch(workers):
    def batches(count):
        loader = DataLoader(Noise(), 2, num_workers=count, generator=gradus.Generator().manual_seed(7))
        return [(x.tolist(), y.tolist()) for x, y in loader]

    assert get_worker_info() is None
    assert batches(workers) == batches(2)
    assert len({str(batch) for batch in batches(2)}) == 3


@pytest.mark.parametrize("options, text", [
    (dict(num_workers=-1), "num_workers is -1"),
    (dict(timeout=-1), "timeout is -1"),
    (dict(batch_size=0), "batch_size is 0"),
    (dict(prefetch_factor=2), "there are no workers"),
    (dict(persistent_workers=True), "there are no workers"),
    (dict(sampler=range(6), shuffle=True), "sampler is given, and shuffle is True"),
    (dict(batch_sampler=[[0]], batch_size=2), "batch_sampler is given, and batch_size"),
    (dict(batch_sampler=[[0]], shuffle=True, drop_last=True), "and shuffle and drop_last"),
    (dict(batch_size=None, drop_last=True), "no batch to drop"),
])
def test_options_that_exclude_each_other_are_errors(options, text):
    with pytest.raises(gradus.ValueError, match=f"^DataLoader: .*{text}"):
        DataLoader(range(6), **options)


def test_a_dataset_needs_a_length():
    class Endless(Dataset):
        def __getitem__(self, index):
            return index

    for shuffle in (False, True):
        with pytest.raises(gradus.TypeError, match="Endless has no length"):
            DataLoader(Endless(), shuffle=shuffle)
    assert [batch.tolist() for batch in DataLoader(Endless(), 2, sampler=[4, 5, 6])] == [[4, 5], [6]]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_have_one_form_whatever_makes_them(workers):
    def batches(**options):
        return [batch.tolist() for batch in DataLoader(gradus.arange(6), num_workers=workers, **options)]

    assert batches(batch_size=None) == [0, 1, 2, 3, 4, 5]
    assert batches(batch_size=None, sampler=[[0, 1], [4, 5]]) == [[0, 1], [4, 5]]
    for kind in (list, tuple, gradus.tensor):
        assert batches(batch_sampler=[kind([3, 1]), kind([2])]) == [[3, 1], [2]]


def test_examples_of_other_lengths_are_no_batch():
    with pytest.raises(gradus.ValueError, match=r"default_collate: examples have \[1, 2\] items"):
        next(iter(DataLoader([(1, 2), (3,)], batch_size=2)))
