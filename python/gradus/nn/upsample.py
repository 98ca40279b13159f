"""Upsample, whose one factor is that of every dimension of the input that comes, and its kin for images."""

from __future__ import annotations

from typing import Any

from .._gradus import Tensor, _nn
from .functional import interpolate


class Upsample(_nn.Upsample):
    __doc__ = _nn.Upsample.__doc__

    def forward(self, input: Tensor) -> Tensor:
        options = self._options()
        return interpolate(input, options["size"], options["scale_factor"], mode=options["mode"],
                           align_corners=options["align_corners"])


class UpsamplingNearest2d(Upsample):
    """Images at another size: each pixel is that of the nearest place."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images at another size, linear between the pixels; the corners stay where they are."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
