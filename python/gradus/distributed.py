"""Ranks that train together, under the names of torch.distributed.

Ranks are processes (backends mpi and nccl) or threads of one process (spawn_threads).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._gradus import _distributed
from ._gradus._distributed import *  # noqa: F403
from ._gradus._distributed import ReduceOp


def spawn_threads(world_size: int, function: Callable[..., Any], args: tuple[Any, ...] = (),
                  timeout: float = 60.0) -> None:
    """Runs function(rank, *args) on world_size threads, each a rank of a job of the backend threads.

    Returns when all have ended. Where one raises, the communication of the others ends with an
    error, and its exception is raised here. timeout: in seconds, of each communication.
    """
    _distributed._spawn_threads(world_size, lambda rank: function(rank, *args), float(timeout))
