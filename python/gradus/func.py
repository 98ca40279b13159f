"""Functions of functions, under the names of torch.func and jax."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Union

from . import _gradus
from ._modes import enable_grad
from .utils._tree import flat

__all__ = ["functional_call", "stack_module_state", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp",
           "vmap"]

_Function = Callable[..., Any]
_Places = Union[int, tuple[int, ...]]
_Dims = Any  # a number, None, or lists, tuples and dictionaries of them


def vmap(func: _Function, in_dims: _Dims = 0, out_dims: _Dims = 0,
         randomness: str = "error", *, chunk_size: int | None = None) -> _Function:
    """func for each sample at once: dimension in_dims of each argument counts the samples.

    Arguments and results may be lists, tuples and dictionaries of tensors; so may in_dims and out_dims.
    chunk_size: how many samples are computed at once.

    >>> import gradus
    >>> x, y = gradus.ones(3, 2), gradus.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> gradus.func.vmap(gradus.dot)(x, y)
    tensor([ 3.,  7., 11.])
    """

    def mapped(*args: Any, **kwargs: Any) -> Any:
        tensors: list[Any] = []
        given = flat((args, kwargs), tensors)
        dims = _spread((in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args),
                        dict.fromkeys(kwargs, 0)), (args, kwargs))
        made: list[Any] = []

        def of_list(*values: Any) -> Any:
            own_args, own_kwargs = given(iter(values))
            results: list[Any] = []
            made[:] = [flat(func(*own_args, **own_kwargs), results), results]
            return tuple(results)

        def all_at_once(*values: Any) -> tuple[Any, ...]:
            found = _gradus._vmap(of_list, values, tuple(dims), _places(out_dims), randomness)
            return found if isinstance(found, tuple) else (found,)

        if chunk_size is None:
            results = all_at_once(*tensors)
        else:
            parts = [itertools.repeat(x) if dim is None else x.split(chunk_size, dim) for x, dim in zip(tensors, dims)]
            chunks = [all_at_once(*values) for values in zip(*parts)]
            out = _places(out_dims)
            joined = out if isinstance(out, tuple) else (out,) * len(chunks[0])
            results = tuple(_gradus.cat(list(column), dim) for column, dim in zip(zip(*chunks), joined))
        return made[0](iter(results))

    return mapped


def _places(out_dims: _Dims) -> Any:
    return tuple(out_dims) if isinstance(out_dims, (tuple, list)) else out_dims


def _spread(dims: Any, value: Any) -> list[Any]:
    """The dimension of each tensor of a value, where dims says those of its parts."""
    if isinstance(value, _gradus.Tensor):
        return [dims]
    if isinstance(value, dict):
        return [each for key, part in value.items()
                for each in _spread(dims[key] if isinstance(dims, dict) else dims, part)]
    if isinstance(value, (list, tuple)):
        parts = dims if isinstance(dims, (list, tuple)) else [dims] * len(value)
        return [each for own, part in zip(parts, value) for each in _spread(own, part)]
    return []


def grad_and_value(func: _Function, argnums: _Places = 0, has_aux: bool = False) -> _Function:
    """A function that returns the gradient of func, whose value is one number, and that value.

    An argument may be a list, a tuple or a dictionary of tensors; its gradient is one, too.
    """

    def computed(*given: Any, **kwargs: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        args, tensors = list(given), list[Any]()
        rebuild = flat(tuple(args[i] for i in places), tensors)
        # The graph of the caller goes on through the arguments: gradients of gradients.
        outer = _gradus.is_grad_enabled() and any(x.requires_grad for x in tensors)
        with enable_grad():
            tensors = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in tensors]
            for i, value in zip(places, rebuild(iter(tensors))):
                args[i] = value
            out = func(*args, **kwargs)
            value, aux = out if has_aux else (out, None)
            grads = _gradus._grad(value, tuple(tensors), None, None, True, True)
        filled = [_gradus.zeros_like(x) if g is None else g for g, x in zip(grads, tensors)]
        if not outer:
            filled, value = [g.detach() for g in filled], value.detach()
        found = rebuild(iter(filled))
        found = found[0] if isinstance(argnums, int) else found
        return (found, (value, aux)) if has_aux else (found, value)

    return computed


def grad(func: _Function, argnums: _Places = 0, has_aux: bool = False) -> _Function:
    """A function that returns the gradient of func, whose value is one number.

    >>> import gradus
    >>> gradus.func.grad(lambda x: (x ** 2).sum())(gradus.tensor([1.0, 2.0]))
    tensor([2., 4.])
    """
    both = grad_and_value(func, argnums, has_aux)

    def computed(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return computed


def _picked(func, args, argnums, has_aux=False):
    """The arguments that argnums names, func as a function of them alone, and a list for aux."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    places = tuple(place + len(args) if place < 0 else place for place in places)
    kept = []

    def of_some(*values):
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


def _outer(values):
    """Whether the caller's graph goes on through one of the values."""
    values = (values,) if isinstance(values, _gradus.Tensor) else values
    return _gradus.is_grad_enabled() and any(value.requires_grad for value in values)


def jacrev(func: _Function, argnums: _Places = 0, *, has_aux: bool = False) -> _Function:
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


def _zeros_for_none(grads, like):
    return tuple(_gradus.zeros_like(x) if g is None else g for g, x in zip(grads, like))


def _grads(outputs, inputs, weights):
    """Gradients that can be differentiated; zeros where an output does not depend on an input."""
    recorded = [(out, weight) for out, weight in zip(outputs, weights) if out.requires_grad]
    if not recorded:
        return tuple(_gradus.zeros_like(x) for x in inputs)
    outputs, weights = zip(*recorded)
    return _zeros_for_none(_gradus._grad(outputs, inputs, weights, True, True, True), inputs)


def jacfwd(func: _Function, argnums: _Places = 0, has_aux: bool = False) -> _Function:
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
            table: list[list[Any]] = [[] for _ in results]
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


def hessian(func: _Function, argnums: _Places = 0) -> _Function:
    """A function that returns the second derivatives of func, whose value is one number."""

    def computed(*args: Any) -> Any:
        of_some, values, _ = _picked(func, args, argnums)
        if _outer(values):  # the C++ function has no graph of its own results
            return jacfwd(jacrev(func, argnums), argnums)(*args)
        return _gradus._hessian(of_some, values, False, False)

    return computed


def jvp(func: _Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
        has_aux: bool = False) -> Any:
    """func(*primals), and its derivative along the tangents."""
    of_some, values, aux = _picked(func, primals, tuple(range(len(primals))), has_aux)
    values, tangents = tuple(values), tuple(tangents)
    outer = _outer(values) or _outer(tangents)
    outputs, along = _gradus._jvp(of_some, values, tangents, outer)
    return (outputs, along, aux[0]) if has_aux else (outputs, along)


def vjp(func: _Function, *primals: Any, has_aux: bool = False) -> Any:
    """func(*primals), and a function that returns gradients for the weights of the results."""
    outer = _outer(primals)
    with enable_grad():
        values = tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
                       for x in primals)
        out = func(*values)
        out, aux = out if has_aux else (out, None)
    one = isinstance(out, _gradus.Tensor)
    outputs = (out,) if one else tuple(out)

    def pulled(*weights):
        if len(weights) == 1 and isinstance(weights[0], (tuple, list)):
            weights = tuple(weights[0])
        on = outer or _outer(weights)
        grads = _grads(outputs, values, weights)
        return grads if on else tuple(grad.detach() for grad in grads)

    shown = outputs if outer else tuple(each.detach() for each in outputs)
    result = (shown[0] if one else shown, pulled)
    return (*result, aux) if has_aux else result


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True, strict: bool = False) -> Any:
    """module(*args, **kwargs) with other tensors in the place of parameters and buffers, by name.

    parameter_and_buffer_dicts: a dictionary, or several. tie_weights: a parameter of two names is replaced under both.
    strict: every parameter and buffer has to be given.
    """
    from .nn._module import _keeps_weights

    dicts = parameter_and_buffer_dicts
    given = dict(dicts) if isinstance(dicts, dict) else {name: x for each in dicts for name, x in each.items()}
    if strict and (missing := [name for name in module.state_dict() if name not in given]):
        raise _gradus.ValueError(f"functional_call: {', '.join(missing)} are missing; expected all names of the state")
    if tie_weights:
        first: dict[int, str] = {}
        for path, part in module.named_modules():
            for own, parameter in part._parameters.items():
                name = f"{path}.{own}" if path else own
                other = first.setdefault(id(parameter), name)
                if other != name and (other in given) != (name in given):
                    given.setdefault(name, given.get(other, given.get(name)))
                    given.setdefault(other, given[name])

    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    before = []
    try:
        for name, tensor in given.items():
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


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of several modules of one kind, stacked by name, and their buffers: for vmap() of functional_call().

    Errors: ValueError for none, and for modules of different classes.
    """
    models = list(models)
    if not models or len({type(model) for model in models}) > 1:
        raise _gradus.ValueError("stack_module_state: expected at least one module, and all of one class")
    parameters = {name: _gradus.stack([dict(model.named_parameters())[name].detach() for model in models]).requires_grad_()
                  for name, _ in models[0].named_parameters()}
    buffers = {name: _gradus.stack([dict(model.named_buffers())[name] for model in models])
               for name, _ in models[0].named_buffers()}
    return parameters, buffers
