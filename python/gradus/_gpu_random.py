"""The random numbers of GPUs, under the names of torch.cuda."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _gradus
from ._gradus import Tensor
from ._gradus._cuda import current_device, device_count


def _generator(device: Any) -> _gradus.Generator:
    index = device if isinstance(device, int) else _gradus.device(device).index
    return _gradus._gpu_generator(current_device() if index is None or index < 0 else index)


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of the generator of a GPU, by default of the current one, as bytes of the CPU."""
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Gives the generator of a GPU a state that it had."""
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all GPUs; an empty list where there is none."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Gives the generators of all GPUs states that they had."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seeds the generator of the current GPU; nothing where there is no GPU."""
    if device_count():
        _generator("cuda").manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all GPUs; nothing where there is no GPU."""
    for index in range(device_count()):
        _generator(index).manual_seed(seed)


def initial_seed() -> int:
    """The seed of the generator of the current GPU."""
    return _generator("cuda").initial_seed()


def seed() -> None:
    """Seeds the generator of the current GPU with a random number; nothing where there is no GPU."""
    if device_count():
        _generator("cuda").seed()


def seed_all() -> None:
    """Seeds the generators of all GPUs with one random number; nothing where there is no GPU."""
    if device_count():
        manual_seed_all(_generator(0).seed() >> 1)
