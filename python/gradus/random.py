"""Random numbers of the CPU and of GPUs, under the names of torch.random."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from . import _gpu_random
from ._forms import get_rng_state as get_rng_state, initial_seed as initial_seed, seed as seed
from ._forms import set_rng_state as set_rng_state
from ._gradus._cuda import device_count
from ._gradus import default_generator as default_generator, manual_seed as manual_seed


@contextlib.contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """The generators of the CPU and of these GPUs, by default of all, are after the `with` block as they were before."""
    if not enabled:
        yield
        return
    gpus = list(range(device_count()) if devices is None else devices)
    before, before_on = get_rng_state(), [_gpu_random.get_rng_state(each) for each in gpus]
    try:
        yield
    finally:
        set_rng_state(before)
        for gpu, state in zip(gpus, before_on):
            _gpu_random.set_rng_state(state, gpu)
