"""Containers: modules that hold others by place or by name."""

from collections import OrderedDict

from .._gradus._nn import Module
from .parameter import Parameter


class Sequential(Module):
    """Modules one after the other: each gets the result of the one before."""

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(modules):
                self.add_module(str(i), module)

    def forward(self, input):
        for module in self.children():
            input = module(input)
        return input

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self):
        return len(list(self.children()))

    def __iter__(self):
        return self.children()

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self.named_children())[index]))
        return list(self.children())[index]

    def __setitem__(self, index, module):
        name = list(self.named_children())[index][0]
        self.add_module(name, module)


class ModuleList(Module):
    """Modules by place, without a forward() of its own."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end."""
        for module in modules:
            self.append(module)
        return self

    __len__ = Sequential.__len__
    __iter__ = Sequential.__iter__
    __setitem__ = Sequential.__setitem__

    def __getitem__(self, index):
        children = list(self.children())[index]
        return type(self)(children) if isinstance(index, slice) else children


class ModuleDict(Module):
    """Modules by name, without a forward() of its own."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def update(self, modules):
        """Adds modules by name."""
        for name, module in dict(modules).items():
            self[name] = module

    def __getitem__(self, name):
        return dict(self.named_children())[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __contains__(self, name):
        return name in dict(self.named_children())

    def __len__(self):
        return len(list(self.children()))

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return dict(self.named_children()).keys()

    def values(self):
        return dict(self.named_children()).values()

    def items(self):
        return dict(self.named_children()).items()


class ParameterList(Module):
    """Parameters by place."""

    def __init__(self, values=None):
        super().__init__()
        for value in values or ():
            self.append(value)

    def append(self, value):
        """Adds a parameter at the end."""
        if not isinstance(value, Parameter):
            value = Parameter(value)
        self.register_parameter(str(len(self)), value)
        return self

    def __len__(self):
        return len(list(self.parameters()))

    def __iter__(self):
        return self.parameters(recurse=False)

    def __getitem__(self, index):
        return list(self.parameters(recurse=False))[index]


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters=None):
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self[name] = value

    def __setitem__(self, name, value):
        if not isinstance(value, Parameter):
            value = Parameter(value)
        self.register_parameter(name, value)

    def __getitem__(self, name):
        return dict(self.named_parameters(recurse=False))[name]

    def __contains__(self, name):
        return name in dict(self.named_parameters(recurse=False))

    def __len__(self):
        return len(list(self.parameters()))

    def __iter__(self):
        return iter(dict(self.named_parameters(recurse=False)))

    def items(self):
        return dict(self.named_parameters(recurse=False)).items()
