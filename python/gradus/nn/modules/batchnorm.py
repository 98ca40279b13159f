"""Kinds of batch normalisation, under the names of torch.nn.modules.batchnorm."""

from ..._gradus import _nn
from ._kinds import Kind


class _BatchNorm(metaclass=Kind):
    """BatchNorm1d to BatchNorm3d, and SyncBatchNorm."""

    _of = (_nn.BatchNorm1d, _nn.BatchNorm2d, _nn.BatchNorm3d, _nn.SyncBatchNorm)


class _NormBase(metaclass=Kind):
    """Those and InstanceNorm1d to InstanceNorm3d."""

    _of = (*_BatchNorm._of, _nn.InstanceNorm1d, _nn.InstanceNorm2d, _nn.InstanceNorm3d)
