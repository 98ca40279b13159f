"""Gradients by call, and functions that say their own derivative, under the names of torch.autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from .. import _gradus, profiler as profiler
from .._gradus import Tensor
from .._modes import enable_grad, inference_mode, no_grad, set_grad_enabled

from . import function as function, functional as functional, graph as graph
from .function import Function as Function

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad",
           "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled"]

_Tensors = Union[Tensor, Sequence[Tensor]]
_MaybeTensors = Union[Tensor, Sequence[Union[Tensor, None]], None]

def backward(tensors: _Tensors, grad_tensors: _MaybeTensors = None, retain_graph: bool | None = None,
             create_graph: bool = False, inputs: _Tensors | None = None) -> None:
    """Adds the gradients of the sum of the tensors to the gradients of the leaves."""
    _gradus._backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(outputs: _Tensors, inputs: _Tensors, grad_outputs: _MaybeTensors = None,
         retain_graph: bool | None = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False,
         materialize_grads: bool = False) -> tuple[Tensor, ...]:
    """The gradients of the sum of the outputs with respect to the inputs, as a tuple.

    only_inputs: taken, without effect. allow_unused: None for an input that the outputs do not depend on, and with
    materialize_grads zeros. is_grads_batched: dimension 0 of each of grad_outputs counts gradients, and so does that of
    the results.

    >>> import gradus
    >>> x = gradus.tensor([1.0, 2.0], requires_grad=True)
    >>> gradus.autograd.grad((x ** 2).sum(), x)
    (tensor([2., 4.]),)
    """
    if is_grads_batched:
        batches = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs or ())
        each = [grad(outputs, inputs, list(weights), True, create_graph, True, allow_unused, False, materialize_grads)
                for weights in zip(*batches)]
        return tuple(_gradus.stack(list(column)) for column in zip(*each))
    found = _gradus._grad(outputs, inputs, grad_outputs, retain_graph, create_graph,
                          materialize_grads if allow_unused is None else allow_unused)
    if materialize_grads:
        of = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        return tuple(_gradus.zeros_like(x) if g is None else g for g, x in zip(found, of))
    return found


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


def _compared(check: Callable[..., bool], raise_exception: bool, func: Any, inputs: Any, *limits: float) -> bool:
    """inputs: those that are no tensors stay as they are."""
    given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    places = [i for i, each in enumerate(given) if isinstance(each, Tensor)]

    def of_tensors(*tensors: Any) -> Any:
        for place, each in zip(places, tensors):
            given[place] = each
        return func(*given)

    try:
        return check(of_tensors, [given[place] for place in places], *limits)
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
