"""Linear algebra, under the names of torch.linalg."""

from __future__ import annotations

from . import _gradus
from ._gradus import LinAlgError as LinAlgError

__all__: list[str] = ["LinAlgError", "vander"]
for _name in dir(_gradus):
    if _name.startswith("linalg_"):
        globals()[_name[7:]] = getattr(_gradus, _name)
        __all__.append(_name[7:])


def vander(x: _gradus.Tensor, *, N: int | None = None) -> _gradus.Tensor:
    """The powers 0 to N - 1 of each element of x, along a new last dimension.

    N: by default the size of the last dimension of x. Errors: ValueError where it is less than 2; TypeError for booleans.

    >>> import gradus
    >>> gradus.linalg.vander(gradus.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    if x.dtype is _gradus.bool:
        raise _gradus.TypeError("linalg.vander: x is of dtype bool; expected numbers, convert it with long()")
    x = x.reshape(1) if x.dim() == 0 else x
    count = x.shape[-1] if N is None else N
    if count < 2:
        raise _gradus.ValueError(f"linalg.vander: N is {count}; expected 2 or more")
    powers = x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)
    return _gradus.cat([_gradus.ones_like(powers[..., :1]), powers], -1)
