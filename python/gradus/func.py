"""Functions of functions, under the names of torch.func and jax."""

from . import _gradus
from ._modes import enable_grad

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "vmap"]


def vmap(func, in_dims=0, out_dims=0, randomness="error"):
    """func for each sample at once: dimension in_dims of each argument counts the samples."""

    def mapped(*args):
        return _gradus._vmap(func, args, in_dims, out_dims, randomness)

    return mapped


def _select(args, argnums):
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns the gradient of func, whose value is one number, and that value."""

    def computed(*args):
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        args = list(args)
        # The graph of the caller goes on through the arguments: gradients of gradients.
        outer = _gradus.is_grad_enabled() and any(args[i].requires_grad for i in places)
        with enable_grad():
            for i in places:
                args[i] = args[i].view_as(args[i]) if args[i].requires_grad else \
                    args[i].detach().requires_grad_()
            out = func(*args)
            value, aux = out if has_aux else (out, None)
            grads = _gradus._grad(value, tuple(args[i] for i in places), None, None, True, True)
        grads = tuple(_gradus.zeros_like(args[i]) if g is None else g
                      for g, i in zip(grads, places))
        if not outer:
            grads, value = tuple(g.detach() for g in grads), value.detach()
        grads = grads[0] if isinstance(argnums, int) else grads
        return (grads, (value, aux)) if has_aux else (grads, value)

    return computed


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of func, whose value is one number."""
    both = grad_and_value(func, argnums, has_aux)

    def computed(*args):
        grads, value = both(*args)
        return (grads, value[1]) if has_aux else grads

    return computed


def jacrev(func, argnums=0):
    """A function that returns the Jacobian of func with respect to one argument."""

    def computed(*args):
        def of_one(x):
            return func(*args[:argnums], x, *args[argnums + 1:])

        return _gradus._jacobian(of_one, args[argnums], _gradus.is_grad_enabled() and
                                 args[argnums].requires_grad, False)

    return computed


jacfwd = jacrev


def hessian(func, argnums=0):
    """A function that returns the second derivatives of func, whose value is one number."""

    def computed(*args):
        def of_one(x):
            return func(*args[:argnums], x, *args[argnums + 1:])

        return _gradus._hessian(of_one, args[argnums], False, False)

    return computed
