"""Containers: modules that hold others by place or by name."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Union, overload

from .._gradus._nn import Module
from .._gradus import Tensor
from ._texts import module_text
from .parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

_Modules = Union[Mapping[str, Module], Iterable[tuple[str, Module]]]
_Tensors = Union[Mapping[str, Tensor], Iterable[tuple[str, Tensor]]]


class _ByPlace(Module):
    """Modules under the names "0", "1" and so on, or others that keep their order."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return list(self._modules.values())[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index: int | slice) -> None:
        names, kept = list(self._modules), list(self._modules.items())
        del kept[index]
        self._set(names, kept)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, modules: Iterable[Module]) -> Self:
        return self[:].extend(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before the one of that index."""
        names, kept = list(self._modules), list(self._modules.items())
        kept.insert(index, (str(index), module))
        self._set(names, kept)

    def pop(self, index: int) -> Module:
        """Takes a module out and returns it."""
        module = self[index]
        del self[index]
        return module

    def _of(self, items: list[tuple[str, Module]]) -> Any:
        raise NotImplementedError

    def _set(self, before: Iterable[str], kept: list[tuple[str, Module]]) -> None:
        for name in before:
            delattr(self, name)
        numbered = all(name.isdigit() for name, _ in kept)
        for i, (name, module) in enumerate(kept):
            self.add_module(str(i) if numbered else name, module)


class Sequential(_ByPlace):
    """Modules one after the other: each gets the result of the one before.

    >>> import gradus
    >>> from gradus import nn
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> tuple(model(gradus.ones(4, 2)).shape)
    (4, 1)
    >>> len(model), model[1]
    (3, ReLU())
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def _of(self, items: list[tuple[str, Module]]) -> Any:
        return type(self)(OrderedDict(items))

    forward = Module._in_turn


class ModuleList(_ByPlace):
    """Modules by place, without a forward() of its own."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _of(self, items: list[tuple[str, Module]]) -> Any:
        return type(self)(module for _, module in items)

    def __repr__(self) -> str:
        children = []
        for text, same in itertools.groupby(self.named_children(), key=lambda item: repr(item[1])):
            names = [name for name, _ in same]
            children.append((names[0], text) if len(names) == 1 else
                            (f"{names[0]}-{names[-1]}", f"{len(names)} x {text}"))
        return module_text(type(self).__name__, self.extra_repr(), children)


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
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return self._modules.keys()

    def values(self) -> ValuesView[Module]:
        return self._modules.values()

    def items(self) -> ItemsView[str, Module]:
        return self._modules.items()

    def pop(self, name: str) -> Module:
        """Takes a module out and returns it."""
        module = self[name]
        del self[name]
        return module

    def clear(self) -> None:
        """Takes all modules out."""
        for name in list(self.keys()):
            del self[name]


class _OfParameters(Module):
    """Parameters, which the text shows."""

    def _register(self, name: str, value: Tensor) -> None:
        self.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value))

    def __len__(self) -> int:
        return len(self._parameters)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({name}): Parameter containing: [{p.dtype} of size {'x'.join(map(str, p.shape))}]"
                         for name, p in self._parameters.items())


class ParameterList(_OfParameters):
    """Parameters by place."""

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def append(self, value: Tensor) -> Self:
        """Adds a parameter at the end."""
        self._register(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Tensor]) -> Self:
        """Adds parameters at the end."""
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Tensor]) -> Self:
        return self.extend(values)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    @overload
    def __getitem__(self, index: int) -> Parameter: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        found = list(self)[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, value: Tensor) -> None:
        self._register(list(self._parameters)[index], value)


class ParameterDict(_OfParameters):
    """Parameters by name.

    >>> import gradus
    >>> from gradus import nn
    >>> scales = nn.ParameterDict({"left": gradus.ones(2)})
    >>> scales.update({"right": gradus.zeros(3)})
    >>> list(scales.keys()), scales.pop("left").tolist(), len(scales)
    (['left', 'right'], [1.0, 1.0], 1)
    """

    def __init__(self, parameters: _Tensors | None = None) -> None:
        super().__init__()
        self.update(parameters or {})

    def update(self, parameters: _Tensors | ParameterDict) -> None:
        """Adds parameters by name."""
        for name, value in dict(parameters).items():
            self[name] = value

    def __setitem__(self, name: str, value: Tensor) -> None:
        self._register(name, value)

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __delitem__(self, name: str) -> None:
        self[name]
        delattr(self, name)

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return self._parameters.keys()

    def values(self) -> ValuesView[Parameter]:
        return self._parameters.values()

    def items(self) -> ItemsView[str, Parameter]:
        return self._parameters.items()

    def get(self, name: str, default: Any = None) -> Any:
        """The parameter of that name, or the default."""
        return self._parameters.get(name, default)

    def setdefault(self, name: str, default: Tensor) -> Parameter:
        """The parameter of that name, which is the default where there is none yet."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str) -> Parameter:
        """Takes a parameter out and returns it."""
        parameter = self[name]
        del self[name]
        return parameter

    def clear(self) -> None:
        """Takes all parameters out."""
        for name in list(self.keys()):
            del self[name]
