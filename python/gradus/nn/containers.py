"""Containers: modules that hold others by place or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Union, overload

from .._gradus._nn import Module
from .._gradus import Tensor
from .parameter import Parameter

_Modules = Union[Mapping[str, Module], Iterable[tuple[str, Module]]]
_Tensors = Union[Mapping[str, Tensor], Iterable[tuple[str, Tensor]]]


class Sequential(Module):
    """Modules one after the other: each gets the result of the one before.

    >>> import gradus
    >>> from gradus import nn
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> model(gradus.ones(4, 2)).shape
    (4, 1)
    >>> len(model), model[1]
    (3, ReLU(inplace=False))
    """

    def __init__(self, *modules: Module | dict[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, named in modules[0].items():
                self.add_module(name, named)
        else:
            for i, module in enumerate(modules):
                self.add_module(str(i), module)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        for module in self.children():
            input = module(input)
        return input

    def append(self, module: Module) -> Sequential:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(list(self.children()))

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self.named_children())[index]))
        return list(self.children())[index]

    def __setitem__(self, index: int, module: Module) -> None:
        name = list(self.named_children())[index][0]
        self.add_module(name, module)


class ModuleList(Module):
    """Modules by place, without a forward() of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, module: Module) -> ModuleList:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Adds modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(list(self.children()))

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self.named_children())[index][0], module)

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    def __getitem__(self, index: int | slice) -> Any:
        children = list(self.children())[index]
        return type(self)(children) if isinstance(index, slice) else children


class ModuleDict(Module):
    """Modules by name, without a forward() of its own.

    >>> from gradus import nn
    >>> heads = nn.ModuleDict({"class": nn.Linear(4, 10), "box": nn.Linear(4, 4)})
    >>> [(name, head.out_features) for name, head in heads.items()]
    [('class', 10), ('box', 4)]
    """

    def __init__(self, modules: _Modules | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: _Modules) -> None:
        """Adds modules by name."""
        for name, module in dict(modules).items():
            self[name] = module

    def __getitem__(self, name: str) -> Module:
        return dict(self.named_children())[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __contains__(self, name: str) -> bool:
        return name in dict(self.named_children())

    def __len__(self) -> int:
        return len(list(self.children()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return dict(self.named_children()).keys()

    def values(self) -> ValuesView[Module]:
        return dict(self.named_children()).values()

    def items(self) -> ItemsView[str, Module]:
        return dict(self.named_children()).items()


class ParameterList(Module):
    """Parameters by place."""

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        for value in values or ():
            self.append(value)

    def append(self, value: Tensor) -> ParameterList:
        """Adds a parameter at the end."""
        if not isinstance(value, Parameter):
            value = Parameter(value)
        self.register_parameter(str(len(self)), value)
        return self

    def __len__(self) -> int:
        return len(list(self.parameters()))

    def __iter__(self) -> Iterator[Parameter]:
        return self.parameters(recurse=False)

    def __getitem__(self, index: int) -> Parameter:
        return list(self.parameters(recurse=False))[index]


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters: _Tensors | None = None) -> None:
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self[name] = value

    def __setitem__(self, name: str, value: Tensor) -> None:
        if not isinstance(value, Parameter):
            value = Parameter(value)
        self.register_parameter(name, value)

    def __getitem__(self, name: str) -> Parameter:
        return dict(self.named_parameters(recurse=False))[name]

    def __contains__(self, name: str) -> bool:
        return name in dict(self.named_parameters(recurse=False))

    def __len__(self) -> int:
        return len(list(self.parameters()))

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.named_parameters(recurse=False)))

    def items(self) -> ItemsView[str, Parameter]:
        return dict(self.named_parameters(recurse=False)).items()
