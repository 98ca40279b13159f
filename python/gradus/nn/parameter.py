"""Parameter: a tensor that a module registers when it becomes an attribute."""

from .. import _gradus


class Parameter(_gradus.Tensor):
    """A tensor over the memory of `data` that a module trains.

    Assigning it to an attribute of a module registers it there.
    """

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _gradus.empty(0)
        return _gradus._nn._make_parameter(cls, data, requires_grad)

    def __init__(self, data=None, requires_grad=True):
        pass

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()


_gradus._nn._set_parameter_class(Parameter)
