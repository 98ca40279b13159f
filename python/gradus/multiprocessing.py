"""Processes, under the names of torch.multiprocessing: those of Python, and spawn."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import weakref
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any

from . import _gradus


class ProcessException(_gradus.Error):
    """A process of spawn() has failed: error_index is its number, error_pid its id."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __str__(self) -> str:
        return self.msg


class ProcessRaisedException(ProcessException):
    """A process of spawn() has raised an error, whose traceback is the message."""


class ProcessExitedException(ProcessException):
    """A process of spawn() has ended with exit_code, or by the signal of signal_name."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.args = (*self.args, exit_code, signal_name)
        self.exit_code, self.signal_name = exit_code, signal_name


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_file: str) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # it ends the parent, too
    except Exception:
        with open(error_file, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exc(file=file)
        sys.exit(1)


class ProcessContext:
    """Processes that spawn() has started: join() waits for them."""

    def __init__(self, processes: list[Any], folder: str) -> None:
        self.processes, self._folder = processes, folder
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def pids(self) -> list[int]:
        """The id of each process."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Whether all have ended; it waits for at most timeout seconds.

        Errors, where one has failed, once the others are ended: ProcessRaisedException with the traceback of what it raised;
        ProcessExitedException where it has ended in another way.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            codes = [process.exitcode for process in self.processes]
            for i, code in enumerate(codes):
                if code:
                    self._fail(i, code)
            running = [process.sentinel for process, code in zip(self.processes, codes) if code is None]
            if not running:
                return True
            if not multiprocessing.connection.wait(running, None if end is None else max(0, end - time.monotonic())):
                return False

    def _fail(self, i: int, code: int) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(30)
            process.kill()
        pid, error_file = self.processes[i].pid, _error_file(self._folder, i)
        if os.path.exists(error_file):
            with open(error_file, encoding="utf-8") as file:
                raise ProcessRaisedException(f"spawn: process {i} has ended with this error:\n\n{file.read()}", i, pid)
        name = signal.Signals(-code).name if code < 0 else None
        raise ProcessExitedException(f"spawn: process {i} has ended " + (f"by signal {name}" if name else f"with exit code {code}"),
                                     i, pid, code, name)


def _error_file(folder: str, i: int) -> str:
    return os.path.join(folder, str(i))


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> ProcessContext | None:
    """Runs fn(i, *args) in nprocs processes, each with its number i. Errors: those of ProcessContext.join()."""
    context: Any = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp()
    processes: list[Any] = [context.Process(target=_run, args=(fn, i, args, _error_file(folder, i)), daemon=daemon)
                            for i in range(nprocs)]
    made = ProcessContext(processes, folder)
    for process in processes:
        process.start()
    if not join:
        return made
    made.join()
    return None


def set_sharing_strategy(new_strategy: str) -> None:
    """Taken, without effect: tensors that are sent to another process are copied."""
