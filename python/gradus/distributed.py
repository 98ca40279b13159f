"""Ranks that train together, under the names of torch.distributed.

Ranks are processes (backends mpi and nccl) or threads of one process (spawn_threads).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._gradus import _distributed
from ._gradus._distributed import *  # noqa: F403
from ._gradus._distributed import ReduceOp


def is_available() -> bool:
    """True: the package has ranks that are threads; is_initialized() says whether there is a group."""
    return True


def spawn_threads(world_size: int, function: Callable[..., Any], args: tuple[Any, ...] = (),
                  timeout: float = 60.0) -> None:
    """Runs function(rank, *args) on world_size threads, each a rank of a job of the backend threads.

    Returns when all have ended. Where one raises, the communication of the others ends with an
    error, and its exception is raised here. timeout: in seconds, of each communication.

    >>> import gradus
    >>> def average(rank):
    ...     x = gradus.full((2,), float(rank))
    ...     gradus.distributed.all_reduce(x, gradus.distributed.ReduceOp.AVG)
    ...     if rank == 0:
    ...         print(x)
    >>> gradus.distributed.spawn_threads(3, average)
    tensor([1., 1.])
    """
    _distributed._spawn_threads(world_size, lambda rank: function(rank, *args), float(timeout))
