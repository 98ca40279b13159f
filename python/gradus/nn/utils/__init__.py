"""Gradients clipped, parameters as one vector or computed from others, under the names of torch.nn.utils."""

from __future__ import annotations

from typing import Any

from ... import _gradus
from ..._gradus._nn import Module
from . import fusion as fusion, parametrizations as parametrizations, parametrize as parametrize, prune as prune, rnn as rnn
from ._hooked_norm import remove_spectral_norm as remove_spectral_norm, remove_weight_norm as remove_weight_norm
from ._hooked_norm import spectral_norm as spectral_norm, weight_norm as weight_norm
from .clip_grad import clip_grad_norm_ as clip_grad_norm_, clip_grad_value_ as clip_grad_value_
from .clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_, get_total_norm as get_total_norm
from .convert_parameters import parameters_to_vector as parameters_to_vector
from .convert_parameters import vector_to_parameters as vector_to_parameters
from .fusion import fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_linear_bn_eval as fuse_linear_bn_eval


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """module_cls(*args, **kwargs), on whose values a program must not rely. They are the initial ones all the same.

    Errors: TypeError for what is no class of modules.
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise _gradus.TypeError(f"skip_init: module_cls is {module_cls!r}; expected a class that derives from nn.Module")
    return module_cls(*args, **kwargs)
