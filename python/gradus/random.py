"""Random numbers of the CPU and of GPUs, under the names of torch.random."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from ._forms import get_rng_state as get_rng_state, initial_seed as initial_seed, seed as seed
from ._forms import set_rng_state as set_rng_state
from ._gradus import default_generator as default_generator, manual_seed as manual_seed


@contextlib.contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """The generator of the CPU is after the `with` block as it was before."""
    before = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if before is not None:
            set_rng_state(before)
