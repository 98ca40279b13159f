"""Normal distributions of vectors."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from . import constraints
from ._base import HALF_LOG_2PI, Distribution, broadcast_shapes, lazy_property


class MultivariateNormal(Distribution):
    """Normal vectors: their covariance, its inverse (precision_matrix), or its lower triangular factor scale_tril."""

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:
        matrices = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: each for name, each in matrices.items() if each is not None}
        if len(given) != 1:
            raise _gradus.ValueError(f"MultivariateNormal: {len(given)} matrices are given; expected one of "
                                     "covariance_matrix, precision_matrix and scale_tril")
        (name, matrix), = given.items()
        batch, n = broadcast_shapes(loc.shape[:-1], matrix.shape[:-2]), loc.shape[-1:]
        self.loc = loc.expand(batch + n)
        self.__dict__[name] = matrix.expand(batch + n + n)
        super().__init__(batch, n, validate_args)
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else _gradus.linalg_cholesky(
            matrix if name == "covariance_matrix" else _gradus.linalg_inv(matrix))

    def _batched(self) -> tuple[str, ...]:
        return "loc", "covariance_matrix", "precision_matrix", "scale_tril"

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the elements."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return _gradus.linalg_inv(self.covariance_matrix)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.scale_tril ** 2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = _gradus.randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._unbroadcasted_scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        difference = (value - self.loc).unsqueeze(-1)
        factor = self._unbroadcasted_scale_tril.expand(difference.shape[:-2] + self._unbroadcasted_scale_tril.shape[-2:])
        z = _gradus.linalg_solve_triangular(factor, difference, upper=False).squeeze(-1)
        return -(z ** 2).sum(-1) / 2 - self.loc.size(-1) * HALF_LOG_2PI - self._half_log_det()

    def entropy(self) -> Any:
        out = self.loc.size(-1) * (0.5 + HALF_LOG_2PI) + self._half_log_det()
        return out.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance cov_factor @ cov_factor.mT + diag(cov_diag), where cov_factor has few columns."""

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.real, "cov_diag": constraints.positive}
    support = constraints.real_vector  # type: ignore[assignment]
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        n, rank = loc.shape[-1:], cov_factor.shape[-1:]
        if cov_factor.shape[-2:-1] != n or cov_diag.shape[-1:] != n:
            raise _gradus.ValueError(f"LowRankMultivariateNormal: cov_factor has the shape {tuple(cov_factor.shape)} and cov_diag "
                                     f"{tuple(cov_diag.shape)}; expected (..., {n[0]}, rank) and (..., {n[0]}), as loc has")
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(batch + n), cov_diag.expand(batch + n)
        self.cov_factor = cov_factor.expand(batch + n + rank)
        super().__init__(batch, n, validate_args)

    def _batched(self) -> tuple[str, ...]:
        return "loc", "cov_factor", "cov_diag"

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self.cov_factor ** 2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def precision_matrix(self) -> Any:
        return _gradus.linalg_inv(self.covariance_matrix)

    @property
    def scale_tril(self) -> Any:
        return _gradus.linalg_cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        few = _gradus.randn((*shape[:-1], self.cov_factor.size(-1), 1), dtype=self.loc.dtype, device=self.loc.device)
        each = _gradus.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.cov_factor @ few).squeeze(-1) + self.cov_diag.sqrt() * each

    def _small_factor(self) -> Any:
        """The triangular factor of 1 + W' W / D, a matrix of as many rows as the factor W has columns."""
        w = self.cov_factor
        ones = _gradus.eye(w.size(-1), dtype=w.dtype, device=w.device)
        return _gradus.linalg_cholesky(ones + w.mT @ (w / self.cov_diag.unsqueeze(-1)))

    def _half_log_det(self, factor: Any) -> Any:
        return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self.cov_diag.log().sum(-1) / 2

    def log_prob(self, value: Any) -> Any:
        self._check_sample(value)
        difference, factor = value - self.loc, self._small_factor()
        part = self.cov_factor.mT @ (difference / self.cov_diag).unsqueeze(-1)
        part = _gradus.linalg_solve_triangular(factor.expand(part.shape[:-2] + factor.shape[-2:]), part, upper=False)
        squares = (difference ** 2 / self.cov_diag).sum(-1) - (part ** 2).sum([-2, -1])
        return -squares / 2 - self.loc.size(-1) * HALF_LOG_2PI - self._half_log_det(factor)

    def entropy(self) -> Any:
        return self.loc.size(-1) * (0.5 + HALF_LOG_2PI) + self._half_log_det(self._small_factor())
