"""Parameters with a part of their elements set to 0 by a mask, under the names of torch.nn.utils.prune."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

from ... import _gradus
from ..._modes import no_grad
from .. import Module, Parameter
from ._computed import put, put_back, take_out


def _count(amount: float, size: int) -> int:
    """How many of size elements an amount is: a number of them, or a share."""
    if isinstance(amount, numbers.Integral):
        if not 0 <= amount <= size:
            raise _gradus.ValueError(f"prune: amount is {amount}; expected at most {size}, the number of elements")
        return int(amount)
    if not 0 <= amount <= 1:
        raise _gradus.ValueError(f"prune: amount is {amount}; expected a share from 0 to 1, or a whole number")
    return round(amount * size)


class BasePruningMethod:
    """A way to choose a mask: a class derives from it and has compute_mask(t, default_mask) and PRUNING_TYPE.

    PRUNING_TYPE: unstructured, structured or global. It is a forward pre-hook of the module.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        put(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of t, whose elements that are not in default_mask are out already."""
        raise NotImplementedError("a pruning method needs compute_mask(t, default_mask)")

    def apply_mask(self, module: Module) -> Any:
        """The parameter NAME_orig times the mask NAME_mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        return mask.to(getattr(module, self._tensor_name + "_orig").dtype) * getattr(module, self._tensor_name + "_orig")

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes a parameter, one more time where it is pruned already. Returns the hook."""
        hooks = module.__dict__.get("_forward_pre_hooks", {})
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        before = [number for number, hook in hooks.items()
                  if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        if before:
            container = PruningContainer()
            container._tensor_name = name
            old = hooks.pop(before[0])
            for each in [*(old if isinstance(old, PruningContainer) else [old]), method]:
                container.add_pruning_method(each)
            mask, original = getattr(module, name + "_mask"), getattr(module, name + "_orig")
            method = container
        else:
            original = take_out(module, name)
            mask = _gradus.ones_like(original)
        scores = original if importance_scores is None else importance_scores
        with no_grad():
            new = method.compute_mask(scores.detach(), mask)
        if not before:
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", new)
        put(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor with the elements set to 0, without a module."""
        scores = t if importance_scores is None else importance_scores
        mask = _gradus.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, mask)

    def remove(self, module: Module) -> None:
        """The parameter is one again, with its zeros."""
        with no_grad():
            weight = self.apply_mask(module)
        original = getattr(module, self._tensor_name + "_orig")
        original.data = weight.data
        delattr(module, self._tensor_name + "_orig")
        delattr(module, self._tensor_name + "_mask")
        put_back(module, self._tensor_name, original)


class PruningContainer(BasePruningMethod):
    """Pruning methods one after the other: each prunes what those before have left."""

    PRUNING_TYPE = "container"

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for each in args:
            self.add_pruning_method(each)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Adds one at the end."""
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask after the last method."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":  # the slices that have an element left
            dim = method.dim % t.dim()  # type: ignore[attr-defined]
            others = [i for i in range(t.dim()) if i != dim]
            kept = mask.sum(others) != 0
            out = mask.clone()
            places = kept.nonzero().flatten()
            part = method.compute_mask(t.index_select(dim, places), mask.index_select(dim, places))
            return out.index_copy_(dim, places, part.to(t.dtype))
        else:
            return method.compute_mask(t, mask)
        out = mask.clone()
        out[kept] = method.compute_mask(t[kept], mask[kept]).to(t.dtype)
        return out


class Identity(BasePruningMethod):
    """Prunes nothing, and makes the mask."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random."""

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        return _gradus.rand_like(t)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        number = _count(self.amount, t.numel())
        mask = default_mask.clone(memory_format=_gradus.contiguous_format)
        if number:
            places = _gradus.topk(self._scores(t).reshape(-1), number, largest=False)[1]
            mask.view(-1)[places] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    """Prunes the elements of the smallest absolute values."""

    def _scores(self, t: Any) -> Any:
        return t.abs()


class RandomStructured(BasePruningMethod):
    """Prunes slices along dim at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount, self.dim = amount, dim

    def _scores(self, t: Any) -> Any:
        return _gradus.rand(t.size(self.dim))

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        number = _count(self.amount, t.size(self.dim))
        mask = default_mask.clone()
        if number:
            mask.index_fill_(self.dim, _gradus.topk(self._scores(t), number, largest=False)[1], 0)
        return mask


class LnStructured(RandomStructured):
    """Prunes the slices along dim of the smallest n-norms."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Any) -> Any:
        return t.norm(self.n, dim=[i for i in range(t.dim()) if i != self.dim % t.dim()])


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask * self.mask.to(default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Makes the mask of a parameter, of ones. Returns the module, as the functions below do."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes elements at random: amount is their number, or a share below 1."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Any = None) -> Module:
    """Prunes the elements of the smallest absolute values, or scores."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes slices along dim at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prunes the slices along dim of the smallest n-norms."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Any) -> Module:
    """Prunes by a mask that is given."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters: Iterable[tuple[Module, str]], pruning_method: type[BasePruningMethod],
                        importance_scores: Any = None, **kwargs: Any) -> None:
    """Prunes elements of several parameters by one choice among all of them."""
    parameters = list(parameters)
    given = importance_scores or {}

    def flat(tensor_of: Any) -> Any:
        return _gradus.cat([tensor_of(module, name).detach().reshape(-1) for module, name in parameters])

    scores = flat(lambda module, name: given.get((module, name), getattr(module, name)))
    before = flat(lambda module, name: getattr(module, name + "_mask", _gradus.ones_like(getattr(module, name))))
    container = PruningContainer()
    container._tensor_name = "all"
    method: Any = pruning_method(**kwargs)
    method._tensor_name = "all"
    container.add_pruning_method(method)
    mask, start = container.compute_mask(scores, before), 0
    for module, name in parameters:
        parameter = getattr(module, name)
        custom_from_mask(module, name, mask[start:start + parameter.numel()].view(parameter.shape))
        start += parameter.numel()


def remove(module: Module, name: str) -> Module:
    """A pruned parameter is one again, with its zeros.

    Errors: ValueError where it is not pruned.
    """
    hooks = module.__dict__.get("_forward_pre_hooks", {})
    for number, hook in list(hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            del hooks[number]
            hook.remove(module)
            return module
    raise _gradus.ValueError(f"remove: {name} of {type(module).__name__} is not pruned")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module or of one below is pruned."""
    return any(isinstance(hook, BasePruningMethod) for each in module.modules()
               for hook in each.__dict__.get("_forward_pre_hooks", {}).values())


__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
           "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
           "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]
