"""Gradients by call, and functions that say their own derivative, under the names of torch.autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _gradus
from ._gradus import Tensor
from ._modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad",
           "gradcheck", "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled"]

_Tensors = Union[Tensor, Sequence[Tensor]]
_MaybeTensors = Union[Tensor, Sequence[Union[Tensor, None]], None]

class Function:
    """A function with a derivative of its own.

    A class derives from it and has two static methods: forward(ctx, *args), and
    backward(ctx, *grad_outputs), which returns a gradient, or None, for each argument of forward.

    >>> import gradus
    >>> class Cube(gradus.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, = ctx.saved_tensors
    ...         return grad * 3 * x ** 2
    >>> x = gradus.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a Function needs a static method backward(ctx, *grad_outputs)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Calls forward without recording it, and records backward in its place."""
        return _gradus._apply_function(cls, *args)


def backward(tensors: _Tensors, grad_tensors: _MaybeTensors = None, retain_graph: bool | None = None,
             create_graph: bool = False, inputs: _Tensors | None = None) -> None:
    """Adds the gradients of the sum of the tensors to the gradients of the leaves."""
    _gradus._backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(outputs: _Tensors, inputs: _Tensors, grad_outputs: _MaybeTensors = None,
         retain_graph: bool | None = None, create_graph: bool = False,
         allow_unused: bool = False) -> tuple[Tensor, ...]:
    """The gradients of the sum of the outputs with respect to the inputs, as a tuple.

    >>> import gradus
    >>> x = gradus.tensor([1.0, 2.0], requires_grad=True)
    >>> gradus.autograd.grad((x ** 2).sum(), x)
    (tensor([2., 4.]),)
    """
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


def _compared(check: Callable[..., bool], raise_exception: bool, *given: Any) -> bool:
    try:
        return check(*given)
    except _gradus.Error:
        if raise_exception:
            raise
        return False


def gradcheck(func: Callable[..., Any], inputs: _Tensors, *, eps: float = 1e-6, atol: float = 1e-5,
              rtol: float = 1e-3, raise_exception: bool = True) -> bool:
    """Whether backward() through func(*inputs) agrees with central differences, for every element.

    Inputs are float64 or complex128. Errors: Error that names the first element that disagrees;
    with raise_exception=False the result is False.

    >>> import gradus
    >>> x = gradus.tensor([0.5, 2.0], dtype=gradus.float64, requires_grad=True)
    >>> gradus.autograd.gradcheck(lambda x: x.exp().log1p(), x)
    True
    """
    return _compared(_gradus._gradcheck, raise_exception, func, inputs, eps, atol, rtol)


def gradgradcheck(func: Callable[..., Any], inputs: _Tensors, *, eps: float = 1e-6, atol: float = 1e-5,
                  rtol: float = 1e-3, raise_exception: bool = True) -> bool:
    """The same for second derivatives, with random weights on the results."""
    return _compared(_gradus._gradgradcheck, raise_exception, func, inputs, eps, atol, rtol)


class functional:
    """Derivatives of functions, under the names of torch.autograd.functional."""

    @staticmethod
    def jacobian(func: Callable[..., Any], inputs: _Tensors, create_graph: bool = False,
                 strict: bool = False) -> Any:
        """The derivatives of each element of func(*inputs) with respect to each of the inputs.

        >>> import gradus
        >>> gradus.autograd.functional.jacobian(lambda x: x ** 2, gradus.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
        """
        return _gradus._jacobian(func, inputs, create_graph, strict)

    @staticmethod
    def hessian(func: Callable[..., Any], inputs: _Tensors, create_graph: bool = False,
                strict: bool = False) -> Any:
        """The second derivatives of func(*inputs), which is one number."""
        return _gradus._hessian(func, inputs, create_graph, strict)

    @staticmethod
    def vjp(func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None,
            create_graph: bool = False) -> tuple[Any, Any]:
        """func(*inputs), and v times its Jacobian."""
        return _gradus._vjp(func, inputs, v, create_graph)

    @staticmethod
    def jvp(func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None,
            create_graph: bool = False) -> tuple[Any, Any]:
        """func(*inputs), and its Jacobian times v."""
        return _gradus._jvp(func, inputs, v, create_graph)
