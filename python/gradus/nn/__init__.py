"""Layers, losses, containers and what is built on them, under the names of torch.nn."""

from .. import _gradus
from .._gradus._nn import *  # noqa: F403
from .._gradus._nn import Module

del functional, init  # noqa: F821  the submodules of C++, in whose place come those of Python

from . import _module
from .parameter import Parameter
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .attention import (MultiheadAttention, Transformer, TransformerDecoder,
                        TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer)
from . import functional, init, utils
from .upsample import Upsample
