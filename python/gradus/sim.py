"""The simulator of CUDA devices: what it finds in kernels, and how they use memory.

A library that was built with -DGRADUS_CUDA=SIM has it; gradus.sim.is_available() tells.
"""

from __future__ import annotations

from typing import Any

from . import _gradus, cuda
from ._gradus._sim import *  # noqa: F403

_sim = _gradus._sim


def is_available() -> bool:
    """Whether the library has simulated devices."""
    return hasattr(_sim, "take_findings")


class record:
    """Gathers what kernels do in a `with` block on simulated devices.

    findings: the mistakes, as Finding objects. launches: the counts of each launch. leaks: memory
    that was allocated in the block and is still in use. They are there when the block has ended. A
    mistake raises no error within the block, except where the work goes on after it.
    """

    def __init__(self) -> None:
        if not is_available():
            raise _gradus.NotImplementedError(
                "sim: the library has no simulated devices; build it with -DGRADUS_CUDA=SIM")
        self.findings: list[Any] = []
        self.leaks: list[Any] = []
        self.launches: list[Any] = []

    def __enter__(self) -> record:
        _sim.take_findings()
        _sim.take_leaks()
        self._recording = _sim._Recording()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.launches = self._recording.launches()
        self.findings = _sim.take_findings()
        self.leaks = _sim.take_leaks()
        del self._recording
        # The error that a finding causes says no more than the finding.
        return bool(self.findings) and kind is _gradus.Error and self.findings[0].message in str(error)

    @property
    def counts(self) -> Any:
        """The counts of the only launch. Errors: Error where there were none or several."""
        if len(self.launches) != 1:
            raise _gradus.Error(f"sim: counts is of one launch, and {len(self.launches)} were recorded; "
                                "use launches")
        return self.launches[0].counts

    def advice(self) -> list[Any]:
        """What makes the memory of the launches slow, as findings."""
        return [each for launch in self.launches for each in launch.advice()]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.findings)) or "no findings"


def run(code, name, grid, block, args=(), *, shared_mem=0, options=()):
    """Runs a kernel of a text once, and returns the record of it: findings, leaks and counts.

    code: CUDA C++ with the kernel `name`. grid, block: one to three integers. args: tensors on a
    simulated device, and numbers. The kernel has written what it wrote when this returns.
    Errors: CompileError where the text does not compile; those of RawKernel for wrong arguments.
    """
    with record() as recorded:
        kernel = cuda.RawKernel(code, name, tuple(options))
        kernel(grid, block, args, shared_mem=shared_mem)
        cuda.synchronize()
    return recorded
