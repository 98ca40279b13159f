"""Where time and memory go, by operation and by module, under the names of torch.profiler."""

from __future__ import annotations

from typing import Any

from ._gradus import _profiler
from ._gradus._profiler import *  # noqa: F403
from ._gradus._profiler import ProfilerActivity
from ._modes import _Mode


class profile:
    """Measures what runs in a `with` block, or from start() to stop().

    activities: ProfilerActivity values, by default all that there are. record_shapes: of operands.
    profile_memory: what makes tensors. with_modules: the module of each operation.
    """

    def __init__(self, activities: Any = None, record_shapes: bool = False, profile_memory: bool = False,
                 with_modules: bool = False) -> None:
        self._given = (None if activities is None else list(activities), record_shapes, profile_memory,
                       with_modules)
        self._profile: Any = None

    def start(self) -> None:
        """Begins to measure."""
        self._profile = _profiler._profile(*self._given)

    def stop(self) -> None:
        """Ends the profile."""
        self._measured().stop()

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
