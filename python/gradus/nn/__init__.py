"""Layers, losses, containers and what is built on them, under the names of torch.nn."""

from .. import _gradus
from .._gradus._nn import *  # noqa: F403
from .._gradus._nn import Module
from . import _module
from .parameter import Parameter
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from . import functional, init, parallel, utils
from .parallel import DataParallel
