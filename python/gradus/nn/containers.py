"""Containers: modules that hold others by place or by name."""

from collections import OrderedDict

from .._gradus._nn import Module
from .parameter import Parameter


class _ByPlace(Module):
    """Modules under the names "0", "1" and so on, or others that keep their order."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return self.children()

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return list(self._modules.values())[index]

    def __setitem__(self, index, module):
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index):
        names, kept = list(self._modules), list(self._modules.items())
        del kept[index]
        self._set(names, kept)

    def __iadd__(self, modules):
        return self.extend(modules)

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        """Adds a module before the one of that index."""
        names, kept = list(self._modules), list(self._modules.items())
        kept.insert(index, (str(index), module))
        self._set(names, kept)

    def pop(self, index):
        """Takes a module out and returns it."""
        module = self[index]
        del self[index]
        return module

    def _set(self, before, kept):
        for name in before:
            delattr(self, name)
        numbered = all(name.isdigit() for name, _ in kept)
        for i, (name, module) in enumerate(kept):
            self.add_module(str(i) if numbered else name, module)


class Sequential(_ByPlace):
    """Modules one after the other: each gets the result of the one before."""

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def _of(self, items):
        return type(self)(OrderedDict(items))

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_ByPlace):
    """Modules by place, without a forward() of its own."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules or ())

    def _of(self, items):
        return type(self)(module for _, module in items)


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
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __contains__(self, name):
        return name in self._modules

    def __delitem__(self, name):
        delattr(self, name)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def pop(self, name):
        """Takes a module out and returns it."""
        module = self[name]
        del self[name]
        return module

    def clear(self):
        """Takes all modules out."""
        for name in list(self.keys()):
            del self[name]


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
