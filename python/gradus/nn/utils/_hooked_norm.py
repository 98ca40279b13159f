"""weight_norm and spectral_norm whose weight is computed by a hook, under the names of torch.nn.utils."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _gradus
from ..._modes import no_grad
from ..functional import normalize
from .. import Module, Parameter
from ._computed import put, put_back, take_out
from .parametrizations import _norm_but, _rows, _SpectralNorm, _WeightNorm

_M = TypeVar("_M", bound=Module)


class _WeightHook:
    """Before each call: the weight from its parameters NAME_g and NAME_v."""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.norm = name, _WeightNorm(dim)

    def split(self, module: Module, weight: Any) -> None:
        module.register_parameter(self.name + "_g", Parameter(_norm_but(weight.detach(), self.norm.dim)))
        module.register_parameter(self.name + "_v", Parameter(weight.detach()))

    def joined(self, module: Module) -> Any:
        return self.norm(getattr(module, self.name + "_g"), getattr(module, self.name + "_v"))

    def names(self) -> tuple[str, ...]:
        return self.name + "_g", self.name + "_v"

    def __call__(self, module: Module, args: Any) -> None:
        put(module, self.name, self.joined(module))


class _SpectralHook(_WeightHook):
    """Before each call: the weight from its parameter NAME_orig and the buffers NAME_u and NAME_v."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name, self.n, self.dim, self.eps = name, n_power_iterations, dim, eps

    def split(self, module: Module, weight: Any) -> None:
        made = _SpectralNorm(weight.detach(), self.n, self.dim, self.eps)
        self.matrix = made._matrix
        module.register_parameter(self.name + "_orig", weight)
        module.register_buffer(self.name + "_u", made._u)
        module.register_buffer(self.name + "_v", made._v)

    def joined(self, module: Module) -> Any:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if module.training:
            with no_grad():
                for _ in range(self.n):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
        return weight / u.clone().dot(matrix.mv(v.clone()))

    def names(self) -> tuple[str, ...]:
        return self.name + "_orig", self.name + "_u", self.name + "_v"


def _hooked(module: _M, hook: _WeightHook) -> _M:
    hook.split(module, take_out(module, hook.name))
    put(module, hook.name, hook.joined(module))
    module.register_forward_pre_hook(hook)
    return module


def _unhooked(module: _M, name: str, kind: type[_WeightHook]) -> _M:
    hooks = module.__dict__.get("_forward_pre_hooks", {})
    for number, hook in list(hooks.items()):
        if type(hook) is kind and hook.name == name:
            del hooks[number]
            with no_grad():
                weight = hook.joined(module).detach().clone()
            for each in hook.names():
                delattr(module, each)
            put_back(module, name, Parameter(weight))
            return module
    raise _gradus.ValueError(f"{type(module).__name__} has no {name} that weight_norm or spectral_norm has made")


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """The weight becomes g * v / |v|, with the parameters NAME_g and NAME_v; norms are over all dimensions but dim."""
    return _hooked(module, _WeightHook(name, -1 if dim is None else dim))


def remove_weight_norm(module: _M, name: str = "weight") -> _M:
    """The weight is a parameter again, with its present value."""
    return _unhooked(module, name, _WeightHook)


def spectral_norm(module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> _M:
    """The weight becomes the parameter NAME_orig over its largest singular value."""
    return _hooked(module, _SpectralHook(name, n_power_iterations, _rows(module, dim), eps))


def remove_spectral_norm(module: _M, name: str = "weight") -> _M:
    """The weight is a parameter again, with its present value."""
    return _unhooked(module, name, _SpectralHook)
