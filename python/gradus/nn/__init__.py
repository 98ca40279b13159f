"""Layers, losses, containers and what is built on them, under the names of torch.nn."""

from .. import _gradus
from .._gradus._nn import *  # noqa: F403
from .._gradus._nn import Module as Module

del functional, init, PackedSequence  # noqa: F821  Python has them elsewhere

from . import _embedding, _module, _registered
from .parameter import Buffer as Buffer, Parameter as Parameter
from .containers import ModuleDict as ModuleDict, ModuleList as ModuleList, Sequential as Sequential
from .containers import ParameterDict as ParameterDict, ParameterList as ParameterList
from .attention import MultiheadAttention as MultiheadAttention, Transformer as Transformer  # type: ignore[assignment]
from .attention import TransformerDecoder as TransformerDecoder  # type: ignore[assignment]
from .attention import TransformerEncoder as TransformerEncoder  # type: ignore[assignment]
from .attention import TransformerDecoderLayer as TransformerDecoderLayer
from .attention import TransformerEncoderLayer as TransformerEncoderLayer
from . import functional as functional, init as init, parallel as parallel, utils as utils
from .parallel import DataParallel as DataParallel
from .lazy import LazyLinear as LazyLinear, LazyConv1d as LazyConv1d
from .lazy import LazyConv2d as LazyConv2d, LazyConv3d as LazyConv3d
from .lazy import LazyConvTranspose1d as LazyConvTranspose1d, LazyConvTranspose2d as LazyConvTranspose2d
from .lazy import LazyConvTranspose3d as LazyConvTranspose3d
from .ctc import CTCLoss as CTCLoss  # type: ignore[assignment]
from .upsample import Upsample as Upsample, UpsamplingBilinear2d as UpsamplingBilinear2d
from .upsample import UpsamplingNearest2d as UpsamplingNearest2d
from . import modules as modules
