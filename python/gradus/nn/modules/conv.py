"""Kinds of convolutions, under the names of torch.nn.modules.conv."""

from ..._gradus import _nn
from ._kinds import Kind


class _ConvTransposeNd(metaclass=Kind):
    """ConvTranspose1d to ConvTranspose3d."""

    _of = (_nn.ConvTranspose1d, _nn.ConvTranspose2d, _nn.ConvTranspose3d)


class _ConvNd(metaclass=Kind):
    """Those and Conv1d to Conv3d."""

    _of = (_nn.Conv1d, _nn.Conv2d, _nn.Conv3d, *_ConvTransposeNd._of)
