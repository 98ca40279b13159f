"""Layers that take the number of input features, or of channels, from their first input.

Before it they hold parameters of the smallest size, which an optimizer may have, but no state can be loaded.
"""

from __future__ import annotations

from typing import Any

from .._gradus import Tensor, _nn
from ._texts import options_text


def _lazy(name: str, first: str, dim: int) -> Any:
    """The layer of that name whose option `first` is the size of dimension dim of its first input."""
    base: Any = getattr(_nn, name)

    class Layer(base):  # type: ignore[misc]
        __doc__ = f"{name} whose {first} is the size of dimension {dim} of its first input."

        def __init__(self, *args: Any, **options: Any) -> None:
            groups = options.get("groups", args[5] if len(args) > 5 else 1)  # the least that they can share
            super().__init__(groups, *args, **options)
            self._waits: Any = args, options

        def forward(self, input: Tensor, *rest: Any) -> Any:
            if self._waits:
                args, options = self._waits
                made = base(input.size(dim), *args, **{**options, "device": None, "dtype": None})
                for name, parameter in self.named_parameters():
                    parameter.data = made.get_parameter(name).data.to(parameter.device, parameter.dtype)
                setattr(self, first, input.size(dim))
                self._waits = ()
            return super().forward(input, *rest)

        def extra_repr(self) -> str:
            size = 0 if self._waits else getattr(self, first)
            return options_text(name, {**self._options(), first: size}, self._defaults())

    Layer.__name__ = Layer.__qualname__ = f"Lazy{name}"
    return Layer


LazyLinear = _lazy("Linear", "in_features", -1)
LazyConv1d = _lazy("Conv1d", "in_channels", -2)
LazyConv2d = _lazy("Conv2d", "in_channels", -3)
LazyConv3d = _lazy("Conv3d", "in_channels", -4)
LazyConvTranspose1d = _lazy("ConvTranspose1d", "in_channels", -2)
LazyConvTranspose2d = _lazy("ConvTranspose2d", "in_channels", -3)
LazyConvTranspose3d = _lazy("ConvTranspose3d", "in_channels", -4)
