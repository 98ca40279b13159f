"""What values parameters and variables may have, under the names of torch.distributions.constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Constraint:
    """check(value): whether each element, or each vector, is allowed."""

    is_discrete, event_dim = False, 0

    def __init__(self, name: str, check: Callable[[Any], Any], discrete: bool = False, event_dim: int = 0) -> None:
        self._name, self.check, self.is_discrete, self.event_dim = name, check, discrete, event_dim

    def __repr__(self) -> str:
        return self._name


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Numbers from a bound on."""
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda x: x < upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers from one bound to the other."""
    return Constraint(f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      lambda x: (x >= lower_bound) & (x <= upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Whole numbers from one bound to the other."""
    return Constraint(f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
                      lambda x: (x % 1 == 0) & (x >= lower_bound) & (x <= upper_bound), True)


real = Constraint("Real()", lambda x: x == x)
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), False, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), True)
nonnegative_integer = Constraint("IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0), True)
simplex = Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), False, 1)
one_hot = Constraint("OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), True, 1)
lower_cholesky = Constraint("LowerCholesky()", lambda x: (x.tril() == x).flatten(-2).all(-1) &
                            (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1), False, 2)
positive_definite = Constraint("PositiveDefinite()", lambda x: ((x - x.mT).abs() < 1e-6).flatten(-2).all(-1), False, 2)
