"""Initial values of parameters, under the names of torch.nn.init."""

from .._gradus._nn.init import *  # noqa: F403
