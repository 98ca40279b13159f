"""What C++ does not say of gradus._gradus._cuda: devices and streams that may be left out, arguments of kernels."""

from os import PathLike

_Device = device | str | int | None

class Stream:
    def __init__(self, device: _Device = None, priority: int = 0) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

class Event:
    def record(self, stream: Stream | None = None) -> None: ...
    def wait(self, stream: Stream | None = None) -> None: ...

class RawKernel:
    def __call__(
        self, grid: int | Sequence[int], block: int | Sequence[int], args: Sequence[Tensor | complex | None], *,
        shared_mem: int = 0
    ) -> None: ...

def get_device_capability(device: _Device = None) -> tuple[int, int]: ...

class RawModule:
    def __init__(
        self, *, code: str | None = None, path: str | PathLike[str] | None = None, options: Sequence[str] = (),
        name_expressions: Sequence[str] | None = None
    ) -> None: ...

class ElementwiseKernel:
    def __call__(self, *args: Tensor | complex, size: int | None = None) -> Any: ...

class ReductionKernel:
    def __call__(
        self, *args: Tensor | complex, out: Tensor | None = None, axis: int | Sequence[int] | None = None,
        keepdims: bool = False
    ) -> Tensor: ...
