"""Gradients by call, and functions that say their own derivative, under the names of torch.autograd."""

from . import _gradus
from ._modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad",
           "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled"]


class Function:
    """A function with a derivative of its own.

    A class derives from it and has two static methods: forward(ctx, *args), and
    backward(ctx, *grad_outputs), which returns a gradient, or None, for each argument of forward.
    """

    @staticmethod
    def forward(ctx, *args):
        raise NotImplementedError("a Function needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("a Function needs a static method backward(ctx, *grad_outputs)")

    @classmethod
    def apply(cls, *args):
        """Calls forward without recording it, and records backward in its place."""
        return _gradus._apply_function(cls, *args)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of the sum of the tensors to the gradients of the leaves."""
    _gradus._backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
         allow_unused=False):
    """The gradients of the sum of the outputs with respect to the inputs, as a tuple."""
    return _gradus._grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)


def Variable(data, requires_grad=False):
    """A leaf over the memory of data; tensors are variables."""
    return data.detach().requires_grad_(requires_grad)


class set_detect_anomaly:
    """Says of an error of a backward pass where its operation was called: at once, and in a `with` block.

    check_nan: a gradient that is NaN is an error, too.
    """

    def __init__(self, mode=True, check_nan=True):
        self._before = _gradus._set_anomaly(mode, check_nan)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _gradus._set_anomaly(*self._before)


class detect_anomaly(set_detect_anomaly):
    """set_detect_anomaly(True) in a `with` block."""

    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)


class functional:
    """Derivatives of functions, under the names of torch.autograd.functional."""

    @staticmethod
    def jacobian(func, inputs, create_graph=False, strict=False):
        """The derivatives of each element of func(*inputs) with respect to each of the inputs."""
        return _gradus._jacobian(func, inputs, create_graph, strict)

    @staticmethod
    def hessian(func, inputs, create_graph=False, strict=False):
        """The second derivatives of func(*inputs), which is one number."""
        out = _gradus._hessian(func, inputs, create_graph, strict)
        return out

    @staticmethod
    def vjp(func, inputs, v=None, create_graph=False):
        """func(*inputs), and v times its Jacobian."""
        return _gradus._vjp(func, inputs, v, create_graph)

    @staticmethod
    def jvp(func, inputs, v=None, create_graph=False):
        """func(*inputs), and its Jacobian times v."""
        return _gradus._jvp(func, inputs, v, create_graph)
