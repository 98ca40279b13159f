"""Upsample, whose one factor is that of every dimension of the input that comes."""

from __future__ import annotations

from typing import Any

from .._gradus import _nn
from .functional import interpolate


class Upsample(_nn.Upsample):
    __doc__ = _nn.Upsample.__doc__

    def forward(self, input: Any) -> Any:
        options = self._options()
        return interpolate(input, options["size"], options["scale_factor"], mode=options["mode"],
                           align_corners=options["align_corners"])
