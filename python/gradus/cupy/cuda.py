"""GPUs under the names of cupy.cuda: those of gradus.cuda, and Device and MemoryPool."""

from __future__ import annotations

from ..cuda import *  # noqa: F403
from ..cuda import (current_device, device as _device, empty_cache, mem_get_info, memory_allocated, memory_reserved, set_device,
                    synchronize as _synchronize)


class Device(_device):
    """A GPU by its number, by default the current one: the current one in a `with` block, or after use()."""

    def __init__(self, device: int | None = None) -> None:
        self.id = current_device() if device is None else device
        super().__init__(self.id)

    @property
    def mem_info(self) -> tuple[int, int]:
        """The bytes that are free, and all."""
        return mem_get_info(self.id)

    def use(self) -> Device:
        """Makes it the current GPU."""
        set_device(self.id)
        return self

    def synchronize(self) -> None:
        """Waits until it has done all its work."""
        _synchronize(self.id)


class MemoryPool:
    """The memory of the current GPU that gradus holds."""

    def used_bytes(self) -> int:
        """The bytes of arrays."""
        return memory_allocated()

    def total_bytes(self) -> int:
        """The bytes of arrays, and those that are kept for others."""
        return memory_reserved()

    def free_bytes(self) -> int:
        """The bytes that are kept for other arrays."""
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self) -> None:
        """Gives back what no array uses."""
        empty_cache()
