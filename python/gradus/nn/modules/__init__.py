"""Layers under the names of PyTorch's files, torch.nn.modules.conv and its like: each has the names of gradus.nn."""

from __future__ import annotations

import sys
import types

from ... import nn
from . import batchnorm as batchnorm, conv as conv, loss as loss, utils as utils

_FILES = ("activation", "adaptive", "channelshuffle", "container", "distance", "dropout", "flatten", "fold",
          "instancenorm", "linear", "module", "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse",
          "transformer", "upsampling")
_names = {name: value for name, value in vars(nn).items() if isinstance(value, type)}
globals().update(_names)
for _file in (batchnorm, conv, loss):
    vars(_file).update({name: value for name, value in _names.items() if name not in vars(_file)})
for _name in _FILES:
    _file = types.ModuleType(f"{__name__}.{_name}", __doc__)
    vars(_file).update(_names)
    sys.modules[_file.__name__] = globals()[_name] = _file
