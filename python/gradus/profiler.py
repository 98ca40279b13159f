"""Where time and memory go, by operation and by module, under the names of torch.profiler."""

from ._gradus import _profiler
from ._gradus._profiler import *  # noqa: F403
from ._gradus._profiler import ProfilerActivity
from ._modes import _Mode


class profile:
    """Measures what runs in a `with` block, or from start() to stop().

    activities: ProfilerActivity values, by default all that there are. record_shapes: of operands.
    profile_memory: what makes tensors. with_modules: the module of each operation.
    """

    def __init__(self, activities=None, record_shapes=False, profile_memory=False, with_modules=False):
        self._given = (None if activities is None else list(activities), record_shapes, profile_memory,
                       with_modules)
        self._profile = None

    def start(self):
        """Begins to measure."""
        self._profile = _profiler._profile(*self._given)

    def stop(self):
        """Ends the profile."""
        self._measured().stop()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def _measured(self):
        if self._profile is None:
            raise RuntimeError("profile: nothing was measured; use it in a with block, or call start()")
        return self._profile

    def key_averages(self, group_by_input_shape=False):
        """Time and memory by operation; its table() is text."""
        return self._measured().key_averages(group_by_input_shape)

    def module_averages(self):
        """Time by module; needs with_modules=True."""
        return self._measured().module_averages()

    def export_chrome_trace(self, path):
        """Writes a trace that ui.perfetto.dev opens."""
        self._measured().export_chrome_trace(str(path))

    def export_memory_timeline(self, path, device=None):
        """Writes the memory of tensors over time: a picture where the path ends with .svg, else JSON."""
        self._measured().export_memory_timeline(str(path), device)


class record_function(_Mode):
    """Gives what runs in the `with` block, or in the decorated function, a name in a profile."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self._scope = _profiler._record_function(self.name)
        return self

    def __exit__(self, *error):
        self._scope.leave()

    def _arguments(self):
        return (self.name,)
