"""Operations on each tensor of a list, under PyTorch's names for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _gradus
from ._forms import norm
from ._gradus import Tensor


def _in_place(name: str) -> Callable[..., None]:
    def apply(self: Sequence[Tensor], other: Any, **options: Any) -> None:
        others = other if isinstance(other, (list, tuple)) else [other] * len(self)
        if len(others) != len(self):
            raise _gradus.ValueError(f"_foreach_{name}: other has {len(others)} items, expected {len(self)}, one for each tensor; "
                                     "give so many, or one number")
        for x, y in zip(self, others):
            getattr(x, name)(y, **options)

    apply.__name__ = apply.__qualname__ = f"_foreach_{name}"
    apply.__doc__ = f"x.{name}(other) of each tensor: other is a number, a tensor, or a list of them."
    return apply


_foreach_add_, _foreach_mul_ = _in_place("add_"), _in_place("mul_")


def _foreach_norm(self: Sequence[Tensor], ord: Any = 2) -> list[Tensor]:
    """The norm of each tensor."""
    return [norm(x, ord) for x in self]
