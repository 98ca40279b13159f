"""Tools, under the names of torch.utils."""

from . import benchmark as benchmark, checkpoint as checkpoint, data as data
