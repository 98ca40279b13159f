"""Functions of functions, under the names of torch.func and jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from . import _gradus
from ._modes import enable_grad

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "vmap"]

_Function = Callable[..., Any]
_Places = Union[int, tuple[int, ...]]
_Dims = Union[int, tuple[Union[int, None], ...], None]


def vmap(func: _Function, in_dims: _Dims = 0, out_dims: _Dims = 0,
         randomness: str = "error") -> _Function:
    """func for each sample at once: dimension in_dims of each argument counts the samples.

    >>> import gradus
    >>> x, y = gradus.ones(3, 2), gradus.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> gradus.func.vmap(gradus.dot)(x, y)
    tensor([ 3.,  7., 11.])
    """

    def mapped(*args: Any) -> Any:
        return _gradus._vmap(func, args, in_dims, out_dims, randomness)

    return mapped


def grad_and_value(func: _Function, argnums: _Places = 0, has_aux: bool = False) -> _Function:
    """A function that returns the gradient of func, whose value is one number, and that value."""

    def computed(*given: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        args = list(given)
        # The graph of the caller goes on through the arguments: gradients of gradients.
        outer = _gradus.is_grad_enabled() and any(args[i].requires_grad for i in places)
        with enable_grad():
            for i in places:
                args[i] = args[i].view_as(args[i]) if args[i].requires_grad else \
                    args[i].detach().requires_grad_()
            out = func(*args)
            value, aux = out if has_aux else (out, None)
            grads = _gradus._grad(value, tuple(args[i] for i in places), None, None, True, True)
        filled = tuple(_gradus.zeros_like(args[i]) if g is None else g
                       for g, i in zip(grads, places))
        if not outer:
            filled, value = tuple(g.detach() for g in filled), value.detach()
        found = filled[0] if isinstance(argnums, int) else filled
        return (found, (value, aux)) if has_aux else (found, value)

    return computed


def grad(func: _Function, argnums: _Places = 0, has_aux: bool = False) -> _Function:
    """A function that returns the gradient of func, whose value is one number.

    >>> import gradus
    >>> gradus.func.grad(lambda x: (x ** 2).sum())(gradus.tensor([1.0, 2.0]))
    tensor([2., 4.])
    """
    both = grad_and_value(func, argnums, has_aux)

    def computed(*args: Any) -> Any:
        grads, value = both(*args)
        return (grads, value[1]) if has_aux else grads

    return computed


def jacrev(func: _Function, argnums: int = 0) -> _Function:
    """A function that returns the Jacobian of func with respect to one argument.

    >>> import gradus
    >>> gradus.func.jacrev(lambda x: x ** 2)(gradus.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def computed(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1:])

        return _gradus._jacobian(of_one, args[argnums], _gradus.is_grad_enabled() and
                                 args[argnums].requires_grad, False)

    return computed


jacfwd = jacrev


def hessian(func: _Function, argnums: int = 0) -> _Function:
    """A function that returns the second derivatives of func, whose value is one number."""

    def computed(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1:])

        return _gradus._hessian(of_one, args[argnums], False, False)

    return computed
