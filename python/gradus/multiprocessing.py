"""Processes, under the names of torch.multiprocessing: those of Python, and spawn."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any


class ProcessContext:
    """Processes that spawn() has started: join() waits for them."""

    def __init__(self, processes: list[Any]) -> None:
        self.processes = processes

    def join(self, timeout: float | None = None) -> bool:
        """Whether all have ended. Errors: RuntimeError where one has failed; the others are ended then."""
        for process in self.processes:
            process.join(timeout)
        failed = [(i, process.exitcode) for i, process in enumerate(self.processes) if process.exitcode]
        if failed:
            for process in self.processes:
                process.terminate()
            raise RuntimeError(f"spawn: process {failed[0][0]} has ended with exit code {failed[0][1]}")
        return all(process.exitcode == 0 for process in self.processes)


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> ProcessContext | None:
    """Runs fn(i, *args) in nprocs processes, each with its number i."""
    context: Any = multiprocessing.get_context(start_method)
    processes: list[Any] = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    made = ProcessContext(processes)
    if not join:
        return made
    made.join()
    return None


def set_sharing_strategy(new_strategy: str) -> None:
    """Taken, without effect: tensors that are sent to another process are copied."""
