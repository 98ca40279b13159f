"""What values parameters and variables may have, under the names of torch.distributions.constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _gradus


class Constraint:
    """check(value): whether each element, or each vector, is allowed; `words` says which are, `bounds` the ends."""

    is_discrete, event_dim = False, 0

    def __init__(self, name: str, words: str, check: Callable[[Any], Any], discrete: bool = False,
                 event_dim: int = 0, bounds: tuple[Any, ...] = ()) -> None:
        self._name, self.words, self.check = name, words, check
        self.is_discrete, self.event_dim, self.bounds = discrete, event_dim, bounds

    @property
    def kind(self) -> str:
        """The name without the bounds."""
        return self._name.partition("(")[0]

    def __repr__(self) -> str:
        return self._name


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", f"numbers above {lower_bound}", lambda x: x > lower_bound,
                      bounds=(lower_bound,))


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Numbers from a bound on."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", f"numbers from {lower_bound} on",
                      lambda x: x >= lower_bound, bounds=(lower_bound,))


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", f"numbers below {upper_bound}", lambda x: x < upper_bound,
                      bounds=(upper_bound,))


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers from one bound to the other."""
    return Constraint(f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      f"numbers from {lower_bound} to {upper_bound}", lambda x: (x >= lower_bound) & (x <= upper_bound),
                      bounds=(lower_bound, upper_bound))


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers from one bound on, below the other."""
    return Constraint(f"HalfOpenInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      f"numbers from {lower_bound} on, below {upper_bound}", lambda x: (x >= lower_bound) & (x < upper_bound),
                      bounds=(lower_bound, upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers from one bound to the other."""
    return Constraint(f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      f"whole numbers from {lower_bound} to {upper_bound}",
                      lambda x: (x % 1 == 0) & (x >= lower_bound) & (x <= upper_bound), True)


real = Constraint("Real()", "numbers that are not NaN", lambda x: x == x)
real_vector = Constraint("IndependentConstraint(Real(), 1)", "vectors without NaN", lambda x: (x == x).all(-1), False, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", "0 or 1", lambda x: (x == 0) | (x == 1), True)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", "whole numbers from 0 on",
                                 lambda x: (x % 1 == 0) & (x >= 0), True)
simplex = Constraint("Simplex()", "vectors of shares that sum to 1",
                     lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), False, 1)
one_hot = Constraint("OneHot()", "vectors of zeros and one 1",
                     lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), True, 1)
lower_cholesky = Constraint("LowerCholesky()", "lower triangular matrices with a diagonal above 0",
                            lambda x: (x.tril() == x).flatten(-2).all(-1) & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1), False, 2)
positive_definite = Constraint("PositiveDefinite()", "symmetric matrices with eigenvalues above 0",
                               lambda x: ((x - x.mT).abs() < 1e-6).flatten(-2).all(-1) & (_gradus.linalg_cholesky_ex(x)[1] == 0),
                               False, 2)
