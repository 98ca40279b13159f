"""Functions from all real numbers to those that a constraint allows, under the names of torch.distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _gradus
from .constraints import Constraint
from .transforms import AffineTransform, ComposeTransform, ExpTransform, IndependentTransform, SigmoidTransform
from .transforms import SoftmaxTransform, StickBreakingTransform, Transform


class ConstraintRegistry:
    """Finds the function for a constraint: biject_to(constraints.positive) is ExpTransform()."""

    def __init__(self) -> None:
        self._made: dict[str, Callable[[Any], Transform]] = {}

    def register(self, constraint: Constraint, factory: Any = None) -> Any:
        """Says what makes the function for constraints of a kind; without a factory, a decorator for it."""
        if factory is None:
            return lambda function: self.register(constraint, function)
        self._made[constraint.kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The function whose results are those that the constraint allows.

        Errors: NotImplementedError for a constraint of a kind that is not registered.
        """
        if constraint.kind not in self._made:
            raise _gradus.NotImplementedError(f"transform: none is known for {constraint}; expected one of "
                                              f"{', '.join(self._made)}; give one with register")
        return self._made[constraint.kind](constraint)


def _moved(transform: Transform, loc: Any, scale: Any) -> Transform:
    plain = isinstance(loc, (int, float)) and isinstance(scale, (int, float)) and (loc, scale) == (0, 1)
    return transform if plain else ComposeTransform([transform, AffineTransform(loc, scale)])


def _between(constraint: Constraint) -> Transform:
    low, high = constraint.bounds
    return _moved(SigmoidTransform(), low, high - low)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()
for _registry in (biject_to, transform_to):
    _registry._made.update({
        "Real": lambda constraint: ComposeTransform([]),
        "IndependentConstraint": lambda constraint: IndependentTransform(ComposeTransform([]), constraint.event_dim),
        "GreaterThan": lambda constraint: _moved(ExpTransform(), constraint.bounds[0], 1),
        "GreaterThanEq": lambda constraint: _moved(ExpTransform(), constraint.bounds[0], 1),
        "LessThan": lambda constraint: _moved(ExpTransform(), constraint.bounds[0], -1),
        "Interval": _between, "HalfOpenInterval": _between})
biject_to._made["Simplex"] = lambda constraint: StickBreakingTransform()
transform_to._made["Simplex"] = lambda constraint: SoftmaxTransform()
