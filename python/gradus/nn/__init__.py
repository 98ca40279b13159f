"""Layers, losses, containers and what is built on them, under the names of torch.nn."""

from .. import _gradus
from .._gradus._nn import *  # noqa: F403
from .._gradus._nn import Module as Module

del functional, init  # noqa: F821  the submodules of C++, in whose place come those of Python

from . import _module
from .parameter import Parameter as Parameter
from .containers import ModuleDict as ModuleDict, ModuleList as ModuleList, Sequential as Sequential
from .containers import ParameterDict as ParameterDict, ParameterList as ParameterList
from .attention import MultiheadAttention as MultiheadAttention, Transformer as Transformer
from .attention import TransformerDecoder as TransformerDecoder
from .attention import TransformerDecoderLayer as TransformerDecoderLayer
from .attention import TransformerEncoder as TransformerEncoder
from .attention import TransformerEncoderLayer as TransformerEncoderLayer
from . import functional as functional, init as init, parallel as parallel, utils as utils
from .parallel import DataParallel as DataParallel
from .upsample import Upsample as Upsample
