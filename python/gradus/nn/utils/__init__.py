"""Gradients clipped, and parameters as one vector, under the names of torch.nn.utils."""

from ... import _gradus
from . import rnn


def _list(parameters):
    return [parameters] if isinstance(parameters, _gradus.Tensor) else list(parameters)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales the gradients so that their norm together is at most max_norm, and returns the norm before."""
    norm = _gradus._nn._clip_grad_norm_(_list(parameters), max_norm, norm_type, error_if_nonfinite)
    return _gradus.tensor(norm)


def clip_grad_value_(parameters, clip_value):
    """Brings each element of the gradients within -clip_value and clip_value."""
    _gradus._nn._clip_grad_value_(_list(parameters), clip_value)


def parameters_to_vector(parameters):
    """All parameters as one vector."""
    return _gradus.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Sets the parameters from one vector."""
    start = 0
    for p in parameters:
        p.data = vec[start:start + p.numel()].view(p.shape).data
        start += p.numel()
