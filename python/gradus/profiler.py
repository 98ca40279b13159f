"""Where time and memory go, by operation and by module, under the names of torch.profiler."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any

from ._gradus import _profiler
from ._gradus._profiler import *  # noqa: F403
from ._gradus._profiler import ProfilerActivity
from ._modes import _Mode


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


_RECORDS = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0,
             skip_first: int = 0) -> Callable[[int], ProfilerAction]:
    """For profile(schedule=): after skip_first steps, wait steps and warmup steps pass, and active ones are recorded.

    repeat: how often; 0: until the end.
    """
    def action(step: int) -> ProfilerAction:
        step -= skip_first
        length = wait + warmup + active
        if step < 0 or (repeat and step >= repeat * length):
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None) -> Callable[[profile], None]:
    """For profile(on_trace_ready=): writes each trace to a folder, as WORKER.STEP.pt.trace.json."""
    def handler(of: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        of.export_chrome_trace(os.path.join(dir_name, f"{worker_name or os.getpid()}.{of.step_num}.pt.trace.json"))

    return handler


class profile:
    """Measures what runs in a `with` block, or from start() to stop().

    activities: ProfilerActivity values, by default all that there are. record_shapes: of operands.
    profile_memory: what makes tensors. with_modules: the module of each operation. schedule: what to do in each step, of
    which step() begins the next one; on_trace_ready: called with the profile when steps have been recorded.
    with_stack, with_flops, use_cuda: taken, without effect.
    """

    def __init__(self, activities: Any = None, schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, use_cuda: bool | None = None) -> None:
        self._given = (None if activities is None else list(activities), record_shapes, profile_memory,
                       with_modules)
        self._profile: Any = None
        self._runs = False
        self._schedule, self._on_trace_ready, self.step_num = schedule, on_trace_ready, 0

    def start(self) -> None:
        """Begins to measure, or the first step of the schedule."""
        if self._schedule is None or self._schedule(self.step_num) in _RECORDS:
            self._profile, self._runs = _profiler._profile(*self._given), True

    def stop(self) -> None:
        """Ends the profile."""
        if self._schedule is None:
            self._measured()
        if self._runs:
            self._end()

    def _end(self) -> None:
        self._profile.stop()
        self._runs = False
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def step(self) -> None:
        """Begins the next step of the schedule."""
        if self._schedule is None:
            return
        ends = self._schedule(self.step_num) is ProfilerAction.RECORD_AND_SAVE
        self.step_num += 1
        if self._runs and ends:
            self._end()
        if not self._runs:
            self.start()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _measured(self) -> Any:
        if self._profile is None:
            raise RuntimeError("profile: nothing was measured; use it in a with block, or call start()")
        return self._profile

    def key_averages(self, group_by_input_shape: bool = False) -> Any:
        """Time and memory by operation; its table() is text."""
        return self._measured().key_averages(group_by_input_shape)

    @property
    def self_cpu_time_total(self) -> float:
        """The time on the CPU of all operations, in microseconds."""
        return float(sum(each.self_cpu_time_total for each in self.key_averages()))

    def module_averages(self) -> Any:
        """Time by module; needs with_modules=True."""
        return self._measured().module_averages()

    def export_chrome_trace(self, path: Any) -> None:
        """Writes a trace that ui.perfetto.dev opens."""
        self._measured().export_chrome_trace(str(path))

    def export_memory_timeline(self, path: Any, device: Any = None) -> None:
        """Writes the memory of tensors over time: a picture where the path ends with .svg, else JSON."""
        self._measured().export_memory_timeline(str(path), device)


class record_function(_Mode):
    """Gives what runs in the `with` block, or in the decorated function, a name in a profile."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        self._scope = _profiler._record_function(self.name)
        return self

    def __exit__(self, *error: object) -> None:
        self._scope.leave()

    def _arguments(self) -> tuple[str]:
        return (self.name,)
