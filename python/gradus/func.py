"""Functions of functions, under the names of torch.func and jax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

from . import _gradus
from ._modes import enable_grad

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp",
           "vmap"]

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


def _picked(func: Any, args: Any, argnums: Any, has_aux: Any = False) -> Any:
    """The arguments that argnums names, func as a function of them alone, and a list for aux."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    places = tuple(place + len(args) if place < 0 else place for place in places)
    kept = []

    def of_some(*values: Any) -> Any:
        given = list(args)
        for place, value in zip(places, values):
            given[place] = value
        out = func(*given)
        if has_aux:
            out, aux = out
            kept.append(aux)
        return out

    values = tuple(args[place] for place in places)
    return of_some, values[0] if isinstance(argnums, int) else values, kept


def _outer(values: Any) -> Any:
    """Whether the caller's graph goes on through one of the values."""
    values = (values,) if isinstance(values, _gradus.Tensor) else values
    return _gradus.is_grad_enabled() and any(value.requires_grad for value in values)


def jacrev(func: Any, argnums: Any = 0, *, has_aux: Any = False) -> Any:
    """A function that returns the Jacobian of func: one backward pass for each element of a result.

    argnums: the place of the argument to differentiate by, or a tuple of places.
    has_aux: func returns (result, anything else), and so does the function, with the Jacobian first.

    >>> import gradus
    >>> gradus.func.jacrev(lambda x: x ** 2)(gradus.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def computed(*args: Any) -> Any:
        of_some, values, aux = _picked(func, args, argnums, has_aux)
        out = _gradus._jacobian(of_some, values, _outer(values), False)
        return (out, aux[0]) if has_aux else out

    return computed


def _zeros_for_none(grads: Any, like: Any) -> Any:
    return tuple(_gradus.zeros_like(x) if g is None else g for g, x in zip(grads, like))


def _grads(outputs: Any, inputs: Any, weights: Any) -> Any:
    """Gradients that can be differentiated; zeros where an output does not depend on an input."""
    recorded = [(out, weight) for out, weight in zip(outputs, weights) if out.requires_grad]
    if not recorded:
        return tuple(_gradus.zeros_like(x) for x in inputs)
    outputs, weights = zip(*recorded)
    return _zeros_for_none(_gradus._grad(outputs, inputs, weights, True, True, True), inputs)


def jacfwd(func: Any, argnums: Any = 0, has_aux: Any = False) -> Any:
    """A function that returns the Jacobian of func: one pass for each element of an argument.

    argnums, has_aux: as in jacrev. It is the quicker one where results have more elements.
    """

    def computed(*args: Any) -> Any:
        of_some, values, aux = _picked(func, args, argnums, has_aux)
        one_value = isinstance(values, _gradus.Tensor)
        outer, given = _outer(values), (values,) if one_value else values
        with enable_grad():
            given = tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
                          for x in given)
            results = of_some(*given)
            one = isinstance(results, _gradus.Tensor)
            results = (results,) if one else tuple(results)
            # The gradients of weights * results are linear in the weights: their own gradients by
            # the weights, for a unit vector, are a column of the Jacobian.
            weights = tuple(_gradus.zeros_like(out).requires_grad_() for out in results)
            backward = _grads(results, given, weights)
            table = [[] for _ in results]
            for x, grad in zip(given, backward):
                units = _gradus.eye(x.numel(), dtype=x.dtype, device=x.device)
                columns = [_grads((grad,), weights, (unit.view(x.shape),)) for unit in units]
                for i, out in enumerate(results):
                    part = _gradus.stack([column[i] for column in columns], -1)
                    table[i].append(part.reshape(*out.shape, *x.shape))
        if not outer:
            table = [[part.detach() for part in row] for row in table]
        rows = [row[0] if one_value else tuple(row) for row in table]
        out = rows[0] if one else tuple(rows)
        return (out, aux[0]) if has_aux else out

    return computed


def hessian(func: _Function, argnums: int = 0) -> _Function:
    """A function that returns the second derivatives of func, whose value is one number."""

    def computed(*args: Any) -> Any:
        of_some, values, _ = _picked(func, args, argnums)
        if _outer(values):  # the C++ function has no graph of its own results
            return jacfwd(jacrev(func, argnums), argnums)(*args)
        return _gradus._hessian(of_some, values, False, False)

    return computed


def jvp(func: Any, primals: Any, tangents: Any, *, strict: Any = False, has_aux: Any = False) -> Any:
    """func(*primals), and its derivative along the tangents."""
    of_some, values, aux = _picked(func, primals, tuple(range(len(primals))), has_aux)
    values, tangents = tuple(values), tuple(tangents)
    outer = _outer(values) or _outer(tangents)
    outputs, along = _gradus._jvp(of_some, values, tangents, outer)
    return (outputs, along, aux[0]) if has_aux else (outputs, along)


def vjp(func: Any, *primals: Any, has_aux: Any = False) -> Any:
    """func(*primals), and a function that returns gradients for the weights of the results."""
    outer = _outer(primals)
    with enable_grad():
        values = tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
                       for x in primals)
        out = func(*values)
        out, aux = out if has_aux else (out, None)
    one = isinstance(out, _gradus.Tensor)
    outputs = (out,) if one else tuple(out)

    def pulled(*weights: Any) -> Any:
        if len(weights) == 1 and isinstance(weights[0], (tuple, list)):
            weights = tuple(weights[0])
        on = outer or _outer(weights)
        grads = _grads(outputs, values, weights)
        return grads if on else tuple(grad.detach() for grad in grads)

    shown = outputs if outer else tuple(each.detach() for each in outputs)
    result = (shown[0] if one else shown, pulled)
    return (*result, aux) if has_aux else result


def functional_call(module: Any, parameters_and_buffers: Any, args: Any = None,
                    kwargs: Any = None) -> Any:
    """module(*args, **kwargs) with other tensors in the place of parameters and buffers, by name."""
    from .nn._module import _keeps_weights

    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    before = []
    try:
        for name, tensor in parameters_and_buffers.items():
            path, _, own = name.rpartition(".")
            part = module.get_submodule(path)
            if _keeps_weights(part, own):
                raise _gradus.NotImplementedError(
                    f"functional_call: the {type(part).__name__} {path} computes with its own "
                    f"{own}; expected layers without a recurrence")
            before.append((part, own, _gradus._nn._exchange(part, own, tensor), part.__dict__.get(own)))
            if own in part.__dict__:
                part.__dict__[own] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for part, own, tensor, attribute in reversed(before):
            _gradus._nn._exchange(part, own, tensor)
            if own in part.__dict__:
                part.__dict__[own] = attribute
