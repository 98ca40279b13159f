"""The loader of batches, under the names of torch.utils.data.dataloader."""

from . import DataLoader as DataLoader, default_collate as default_collate, get_worker_info as get_worker_info
