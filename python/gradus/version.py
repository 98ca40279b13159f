"""The version of the package, under the names of torch.version."""

from __future__ import annotations

import re

from . import _gradus

__version__ = _gradus.__version__
_found = re.search(r"CUDA[^0-9\n]*([0-9]+\.[0-9]+)", _gradus.show_config())
cuda: str | None = _found.group(1) if _found else None
