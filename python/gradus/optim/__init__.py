"""Optimizers, under the names of torch.optim."""

from .._gradus._optim import *  # noqa: F403
from .._gradus._optim import Optimizer, ParamGroup
from . import lr_scheduler


def _made_again(cls, groups):
    return cls(groups, lr=groups[0]["lr"])


def __reduce_ex__(self, protocol):
    groups = [dict(group.items()) for group in self.param_groups]
    return _made_again, (type(self), groups), (self.__dict__, self.state_dict())


def __setstate__(self, state):
    attributes, tensors = state
    self.__dict__.update(attributes)
    self.load_state_dict(tensors)


def __repr__(self):
    lines = [f"{type(self).__name__} ("]
    for i, group in enumerate(self.param_groups):
        lines.append(f"Parameter Group {i}")
        lines += [f"    {key}: {value}" for key, value in group.items() if key != "params"]
    return "\n".join(lines + [")"])


for _function in (__reduce_ex__, __setstate__, __repr__):
    setattr(Optimizer, _function.__name__, _function)


# A group is read as a dictionary.
def get(self, key, default=None):
    """The option of that name, or the default."""
    return self[key] if key in self else default


def items(self):
    """The pairs of names and values."""
    return [(key, self[key]) for key in self.keys()]


def values(self):
    """The values of all options."""
    return [self[key] for key in self.keys()]


def update(self, other=(), **options):
    """Sets options by name."""
    for key, value in dict(other, **options).items():
        self[key] = value


ParamGroup.__contains__ = lambda self, key: key in self.keys()
ParamGroup.__iter__ = lambda self: iter(self.keys())
ParamGroup.__len__ = lambda self: len(self.keys())
ParamGroup.__repr__ = lambda self: repr(dict(self.items()))
for _function in (get, items, values, update):
    setattr(ParamGroup, _function.__name__, _function)
