"""Functions of functions, under the names of torch.func and jax."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Union

from . import _gradus
from ._modes import enable_grad
from .utils._tree import flat

__all__ = ["functional_call", "stack_module_state", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
           "linearize", "vjp", "vmap"]

_Function = Callable[..., Any]
_Places = Union[int, tuple[int, ...]]
_Dims = Any  # a number, None, or lists, tuples and dictionaries of them


def _strangers(value: Any) -> Iterator[Any]:
    """What is no tensor within lists, tuples and dictionaries."""
    if isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strangers(part)
    elif not isinstance(value, _gradus.Tensor):
        yield value


def _leaves(value: Any, tensors: list[Any], what: str) -> Callable[[Iterator[Any]], Any]:
    """As flat(), for a value that holds tensors alone."""
    for each in _strangers(value):
        raise _gradus.ValueError(f"{what}, got type {type(each).__name__}; expected tensors, and lists, tuples and "
                                 "dictionaries of them")
    return flat(value, tensors)


def _matched(value: Any, like: Any, what: str) -> list[Any]:
    """The tensors of a value in the order of those of another one, which has its structure."""
    if isinstance(like, dict) and isinstance(value, dict) and like.keys() == value.keys():
        return [each for key, part in like.items() for each in _matched(value[key], part, what)]
    if isinstance(like, (list, tuple)) and isinstance(value, (list, tuple)) and len(like) == len(value):
        return [each for own, part in zip(value, like) for each in _matched(own, part, what)]
    if isinstance(like, _gradus.Tensor) and isinstance(value, _gradus.Tensor):
        return [value]
    raise _gradus.ValueError(f"{what}: found {_described(value)} in the place of {_described(like)}; expected the same structure")


def _described(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, dict):
        return f"a {kind} with the keys {list(value)}"
    return f"a {kind} of {len(value)}" if isinstance(value, (list, tuple)) else f"a {kind}"


def vmap(func: _Function, in_dims: _Dims = 0, out_dims: _Dims = 0,
         randomness: str = "error", *, chunk_size: int | None = None) -> _Function:
    """func for each sample at once: dimension in_dims of each argument counts the samples.

    Arguments and results may be lists, tuples and dictionaries of tensors; so may in_dims and out_dims.
    Arguments by name are the same for all samples. chunk_size: how many samples are computed at once.
    Errors: ValueError where func returns what is no tensor; where out_dims is None, that of the last sample is returned.

    >>> import gradus
    >>> x, y = gradus.ones(3, 2), gradus.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> gradus.func.vmap(gradus.dot)(x, y)
    tensor([ 3.,  7., 11.])
    """

    def mapped(*args: Any, **kwargs: Any) -> Any:
        tensors: list[Any] = []
        given = flat((args, kwargs), tensors)
        dims = _spread((in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args),
                        dict.fromkeys(kwargs)), (args, kwargs))
        made: list[Any] = []

        def of_list(*values: Any) -> Any:
            own_args, own_kwargs = given(iter(values))
            results: list[Any] = []
            out = func(*own_args, **own_kwargs)
            made[:] = [flat(out, results) if out_dims is None
                       else _leaves(out, results, "vmap: `func` must only return Tensors")]
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
    Errors: ValueError where one of those arguments holds what is no tensor.
    """

    def computed(*given: Any, **kwargs: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        args, tensors = list(given), list[Any]()
        rebuild = _leaves(tuple(args[i] for i in places), tensors, "grad: an argument to differentiate by must be Tensors")
        # The graph of the caller goes on through the arguments: gradients of gradients.
        outer = _outer(tensors)
        with enable_grad():
            tensors = list(_recorded(tensors))
            for i, value in zip(places, rebuild(iter(tensors))):
                args[i] = value
            out = func(*args, **kwargs)
            value, aux = out if has_aux else (out, None)
            grads = _gradus._grad(value, tuple(tensors), None, None, True, True)
        filled = [_gradus.zeros_like(x) if g is None else g for g, x in zip(grads, tensors)]
        if not outer:
            filled, value, aux = [g.detach() for g in filled], value.detach(), _without_graph(aux)
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


class _Flat:
    """func as a function of the tensors within the arguments that argnums names; it returns a tuple of tensors."""

    aux: Any = None

    def __init__(self, name: str, func: _Function, args: Sequence[Any], argnums: _Places, has_aux: bool) -> None:
        self._name, self._func, self._args, self._has_aux = name, func, args, has_aux
        self._places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self._one = isinstance(argnums, int)
        self.tensors: list[Any] = []
        self._arguments = _leaves(tuple(args[place] for place in self._places), self.tensors,
                                  f"{name}: an argument to differentiate by must be Tensors")
        self._outer = _outer(self.tensors)

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        args, results = list(self._args), list[Any]()
        for place, value in zip(self._places, self._arguments(iter(tensors))):
            args[place] = value
        self.out = self._func(*args)
        if self._has_aux:
            self.out, aux = self.out
            self.aux = aux if self._outer else _without_graph(aux)
        self.result = _leaves(self.out, results, f"{self._name}: `func` must only return Tensors")
        return tuple(results)

    def argument(self, values: Any) -> Any:
        """Values in the place of the tensors: one argument, or a tuple of them."""
        found = self._arguments(iter(values))
        return found[0] if self._one else found

    def jacobian(self, rows: Any) -> Any:
        """What has a row for each tensor of the result, which has a part for each of the arguments' tensors."""
        table = self.result(map(self.argument, rows))
        return (table, self.aux) if self._has_aux else table


def _without_graph(value: Any) -> Any:
    """The value, whose tensors have no graph."""
    tensors: list[Any] = []
    rebuild = flat(value, tensors)
    return rebuild(iter([each.detach() for each in tensors]))


def _outer(tensors: Any) -> bool:
    """Whether the caller's graph goes on through one of the tensors."""
    return _gradus.is_grad_enabled() and any(x.requires_grad for x in tensors)


def _recorded(tensors: Any) -> tuple[Any, ...]:
    """The tensors as the start of a graph, which goes on in that of the caller."""
    return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in tensors)


def jacrev(func: _Function, argnums: _Places = 0, *, has_aux: bool = False, chunk_size: int | None = None) -> _Function:
    """A function that returns the Jacobian of func: one backward pass for each element of a result.

    Arguments and results may be lists, tuples and dictionaries of tensors: the Jacobian has the structure of the result,
    and in the place of each of its tensors that of the argument.
    argnums: the place of the argument to differentiate by, or a tuple of places.
    has_aux: func returns (result, anything else), and so does the function, with the Jacobian first.
    chunk_size: taken, without effect.
    Errors: ValueError where one of those arguments, or the result, holds what is no tensor.

    >>> import gradus
    >>> gradus.func.jacrev(lambda x: x ** 2)(gradus.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    >>> gradus.func.jacrev(lambda p: p["a"] * p["b"])({"a": gradus.tensor(2.0), "b": gradus.tensor(3.0)})
    {'a': tensor(3.), 'b': tensor(2.)}
    """

    def computed(*args: Any) -> Any:
        f = _Flat("jacrev", func, args, argnums, has_aux)
        return f.jacobian(_gradus._jacobian(f, tuple(f.tensors), _outer(f.tensors), False))

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


def jacfwd(func: _Function, argnums: _Places = 0, has_aux: bool = False, *, randomness: str = "error") -> _Function:
    """A function that returns the Jacobian of func: one pass for each element of an argument.

    argnums, has_aux, structures, errors: as in jacrev. It is the quicker one where results have more elements.
    randomness: taken, without effect.
    """

    def computed(*args: Any) -> Any:
        f = _Flat("jacfwd", func, args, argnums, has_aux)
        outer = _outer(f.tensors)
        with enable_grad():
            given = _recorded(f.tensors)
            results = f(*given)
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
        return f.jacobian(table if outer else [[part.detach() for part in row] for row in table])

    return computed


def hessian(func: _Function, argnums: _Places = 0) -> _Function:
    """A function that returns the second derivatives of func: the Jacobian of its Jacobian, as jacrev has it."""
    return jacrev(jacrev(func, argnums), argnums)


def jvp(func: _Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
        has_aux: bool = False) -> Any:
    """func(*primals), and its derivative along the tangents.

    Arguments and results may be lists, tuples and dictionaries of tensors; the tangents have the structure of the primals.
    has_aux: func returns (result, anything else), which comes third. strict: taken, without effect.
    Errors: ValueError for other tangents, and where primals or the result hold what is no tensor.

    >>> import gradus
    >>> gradus.func.jvp(lambda p: p["a"] * p["b"], ({"a": gradus.tensor(2.0), "b": gradus.tensor(3.0)},),
    ...                 ({"a": gradus.tensor(1.0), "b": gradus.tensor(0.0)},))
    (tensor(6.), tensor(3.))
    """
    primals, tangents = tuple(primals), tuple(tangents)
    f = _Flat("jvp", func, primals, tuple(range(len(primals))), has_aux)
    along = _matched(tangents, primals, "jvp: tangents and primals")
    found = _gradus._jvp(f, tuple(f.tensors), tuple(along), _outer((*f.tensors, *along)))
    outputs, derivatives = (f.result(iter(each)) for each in found)
    return (outputs, derivatives, f.aux) if has_aux else (outputs, derivatives)


def linearize(func: _Function, *primals: Any) -> tuple[Any, _Function]:
    """func(*primals), and the function of tangents that returns the derivative along them.

    Arguments, results and errors: as in jvp. Each call of the function computes func again.

    >>> import gradus
    >>> value, along = gradus.func.linearize(lambda x: x ** 2, gradus.tensor([1.0, 2.0]))
    >>> value, along(gradus.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    return func(*primals), lambda *tangents: jvp(func, primals, tangents)[1]


def vjp(func: _Function, *primals: Any, has_aux: bool = False) -> Any:
    """func(*primals), and a function that returns gradients for the weights of the results.

    Arguments and results may be lists, tuples and dictionaries of tensors. The weights have the structure of the result,
    and the gradients are a tuple with that of each argument.
    has_aux: func returns (result, anything else), which comes third.
    Errors: ValueError for other weights, and where primals or the result hold what is no tensor.
    """
    f = _Flat("vjp", func, primals, tuple(range(len(primals))), has_aux)
    outer = _outer(f.tensors)
    with enable_grad():
        values = _recorded(f.tensors)
        outputs = f(*values)

    def pulled(*weights: Any) -> Any:
        given = _matched(weights[0] if len(weights) == 1 else weights, f.out, "vjp: the weights and the result")
        grads = _grads(outputs, values, given)
        return f.argument(grads if outer or _outer(given) else [grad.detach() for grad in grads])

    shown = f.result(iter(outputs if outer else [each.detach() for each in outputs]))
    return (shown, pulled, f.aux) if has_aux else (shown, pulled)


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
