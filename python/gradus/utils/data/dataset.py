"""Datasets, under the names of torch.utils.data.dataset."""

from . import ChainDataset as ChainDataset, ConcatDataset as ConcatDataset, Dataset as Dataset
from . import IterableDataset as IterableDataset, StackDataset as StackDataset, Subset as Subset
from . import TensorDataset as TensorDataset, random_split as random_split
