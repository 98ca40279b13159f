"""Weights that are normed or orthogonal, under the names of torch.nn.utils.parametrizations."""

from __future__ import annotations

from typing import Any

from ... import _gradus
from ..._modes import no_grad
from ..functional import normalize
from .. import Module
from .parametrize import register_parametrization


def _norm_but(v: Any, dim: int) -> Any:
    """The norms over all dimensions but one; -1: over all."""
    if dim == -1:
        return v.norm()
    return v.norm(dim=[i for i in range(v.dim()) if i != dim % v.dim()], keepdim=True) if v.dim() > 1 else v.abs()


class _WeightNorm(Module):
    """g * v / |v|."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / _norm_but(weight_v, self.dim))

    def right_inverse(self, weight: Any) -> Any:
        return _norm_but(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """The weight becomes g * v / |v|, with the norms over all dimensions but dim; originals are g and v."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """The weight over its largest singular value, which n_power_iterations improve in each call while training."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if n_power_iterations < 1:
            raise _gradus.ValueError(f"spectral_norm: n_power_iterations is {n_power_iterations}; expected 1 or more")
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps
        if weight.dim() > 1:
            matrix = self._matrix(weight)
            self.register_buffer("_u", normalize(_gradus.randn(matrix.size(0), dtype=weight.dtype, device=weight.device),
                                                 dim=0, eps=eps))
            self.register_buffer("_v", normalize(_gradus.randn(matrix.size(1), dtype=weight.dtype, device=weight.device),
                                                 dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        return weight.transpose(0, self.dim).flatten(1) if weight.dim() > 2 or self.dim else weight

    @no_grad()
    def _iterate(self, matrix: Any, times: int) -> None:
        for _ in range(times):
            self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        return value


def _rows(module: Module, dim: int | None) -> int:
    """The dimension of the weight that counts the outputs."""
    from ..modules.conv import _ConvTransposeNd

    return dim if dim is not None else 1 if isinstance(module, _ConvTransposeNd) else 0


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """The weight becomes itself over its largest singular value."""
    weight = getattr(module, name).detach()
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, _rows(module, dim), eps))


class _Orthogonal(Module):
    """The orthogonal matrix of a matrix of the same shape, times a constant orthogonal one."""

    def __init__(self, weight: Any, by: str) -> None:
        super().__init__()
        self.by = by
        wide = weight.size(-2) < weight.size(-1)
        with no_grad():  # so that the first value is the weight's own orthogonal factor
            q = _gradus.linalg_qr(weight.mT if wide else weight)[0]
        self.register_buffer("base", q.contiguous())

    def forward(self, x: Any) -> Any:
        wide = x.size(-2) < x.size(-1)
        tall = x.mT if wide else x
        n = tall.size(-2)
        square = _gradus.cat([tall, tall.new_zeros(*tall.shape[:-1], n - tall.size(-1))], -1) if tall.size(-1) < n else tall
        skew = square.tril(-1)
        skew = skew - skew.mT
        if self.by == "matrix_exp":
            turn = _gradus.linalg_matrix_exp(skew)
        else:
            one = _gradus.eye(n, dtype=x.dtype, device=x.device)
            turn = _gradus.linalg_solve(one + skew / 2, one - skew / 2)
        out = turn @ self.base
        return out.mT if wide else out

    def right_inverse(self, value: Any) -> Any:
        """Turns by nothing, from the orthogonal factor of the value."""
        wide = value.size(-2) < value.size(-1)
        q, r = _gradus.linalg_qr(value.mT if wide else value)
        self.base.copy_(q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2))
        return _gradus.zeros_like(value)


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> Module:
    """The weight becomes a matrix with orthogonal columns, or rows where it has more columns.

    orthogonal_map: matrix_exp or cayley, the function that makes it; householder is computed by matrix_exp.
    """
    if orthogonal_map not in (None, "matrix_exp", "cayley", "householder"):
        raise _gradus.ValueError(f"orthogonal: orthogonal_map is {orthogonal_map!r}; expected matrix_exp, cayley or householder")
    by = "cayley" if orthogonal_map == "cayley" else "matrix_exp"
    return register_parametrization(module, name, _Orthogonal(getattr(module, name).detach(), by))
