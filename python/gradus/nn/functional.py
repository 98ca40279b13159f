"""Functions of layers, under the names of torch.nn.functional."""

from .. import _gradus

__all__ = []


def _take(name, function):
    globals()[name] = function
    __all__.append(name)


# Functions that are rows of the tables are the same under both names.
for _name in dir(_gradus):
    if not _name.startswith("_") and not isinstance(getattr(_gradus, _name), type) and \
            callable(getattr(_gradus, _name)):
        _take(_name, getattr(_gradus, _name))
# Functions with options.
for _name in dir(_gradus.nn.functional):
    if not _name.startswith("_"):
        _take(_name, getattr(_gradus.nn.functional, _name))
