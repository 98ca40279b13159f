"""GPUs, under the names of torch.cuda and, for kernels of one's own, of cupy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import _gradus
from .amp import GradScaler, autocast as _autocast, custom_bwd as _custom_bwd, custom_fwd as _custom_fwd
from ._gradus._cuda import *  # noqa: F403
from ._gradus._cuda import CUDAGraph
from ._gradus._cuda import Stream as _Stream
from ._gradus._cuda import _StaticInputs, current_device, current_stream, get_device_capability, is_available, set_device, set_stream
from ._gradus import OutOfMemoryError as OutOfMemoryError
from ._gpu_random import get_rng_state as get_rng_state, get_rng_state_all as get_rng_state_all, initial_seed as initial_seed
from ._gpu_random import manual_seed as manual_seed, manual_seed_all as manual_seed_all, seed as seed, seed_all as seed_all
from ._gpu_random import set_rng_state as set_rng_state, set_rng_state_all as set_rng_state_all
from ._tensor_types import tensor_types

(FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor,
 BoolTensor) = tensor_types("cuda").values()


def init() -> None:
    """Does nothing: a GPU is made ready by its first use."""


def is_initialized() -> bool:
    """Whether there is a GPU."""
    return bool(is_available())


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current GPU computes with bfloat16: all do; without including_emulation, those of capability 8.0 and newer."""
    return bool(is_available()) and (including_emulation or get_device_capability()[0] >= 8)


def ipc_collect() -> None:
    """Does nothing: memory is not shared with other processes by handles."""


def _memory_of(name: str, meaning: str) -> Callable[..., int]:
    of_device = getattr(_gradus._cuda, name)

    def memory(device: Any = None) -> int:
        return of_device(device) if is_available() else 0

    memory.__name__ = memory.__qualname__ = name
    memory.__doc__ = f"{meaning}, in bytes, by default of the current GPU; 0 where there is no GPU."
    return memory


memory_allocated = _memory_of("memory_allocated", "What tensors use")
max_memory_allocated = _memory_of("max_memory_allocated", "The most that tensors have used")
memory_reserved = _memory_of("memory_reserved", "What is held, for tensors and for those to come")
max_memory_reserved = _memory_of("max_memory_reserved", "The most that has been held")


def reset_max_memory_allocated(device: Any = None) -> None:
    """max_memory_allocated() and max_memory_reserved() begin anew; nothing where there is no GPU."""
    if is_available():
        _gradus._cuda.reset_peak_memory_stats(device)


reset_peak_memory_stats = reset_max_memory_allocated


class device:
    """Makes a GPU the current one in a `with` block."""

    def __init__(self, device: _gradus.device | str | int) -> None:
        self.device = device

    def __enter__(self) -> device:
        self._before = current_device()
        set_device(self.device)
        return self

    def __exit__(self, *error: object) -> None:
        set_device(self._before)


class stream:
    """Makes a stream the current one in a `with` block."""

    def __init__(self, stream: _Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> _Stream | None:
        if self.stream is not None:
            self._before = current_stream(self.stream.device)
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *error: object) -> None:
        if self.stream is not None:
            set_stream(self._before)


def _enter(self: _Stream) -> _Stream:
    _before.setdefault(id(self), []).append(current_stream(self.device))
    set_stream(self)
    return self


def _exit(self: _Stream, *error: object) -> None:
    set_stream(_before[id(self)].pop())


_before: dict[int, list[_Stream]] = {}
setattr(_Stream, "__enter__", _enter)
setattr(_Stream, "__exit__", _exit)


class graph:
    """Records the work of a `with` block in a CUDAGraph: on `stream`, or on a stream of its own."""

    def __init__(self, cuda_graph: CUDAGraph, pool: Any = None, stream: _Stream | None = None) -> None:
        self.cuda_graph, self._pool, self._stream = cuda_graph, pool, stream

    def __enter__(self) -> None:
        self._entered = stream(self._stream if self._stream is not None else _Stream())
        self._entered.__enter__()
        try:
            self.cuda_graph.capture_begin(self._pool)
        except BaseException:
            self._entered.__exit__()
            raise

    def __exit__(self, kind: Any, *error: object) -> None:
        try:
            if kind is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()
        finally:
            self._entered.__exit__()


def _detached(value: Any) -> Any:
    if isinstance(value, _gradus.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return {name: _detached(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_detached, value))
    return value


class Graphed:
    """A function made by make_graphed()."""

    _WARM_UP = 2  # the first call makes states, the second one uses them

    def __init__(self, function: Callable[..., Any], samples: Sequence[_gradus.Tensor]) -> None:
        self._function = function
        self._inputs = _StaticInputs(samples)
        self._static = [self._inputs[i] for i in range(len(samples))]
        self._graph, self._calls, self._captured = CUDAGraph(), 0, False
        self._result: Any = None

    def __call__(self, *inputs: _gradus.Tensor) -> Any:
        """Does what the function does with these inputs."""
        if len(inputs) != len(self._static):
            raise _gradus.TypeError(f"graphed function: {len(inputs)} inputs are given; expected "
                                    f"{len(self._static)}, as many as there were samples")
        self._inputs.set(inputs)
        with device(self._inputs.device):
            if self._calls < self._WARM_UP:
                self._calls += 1
                return _detached(self._function(*self._static))
            if not self._captured:
                with graph(self._graph):
                    self._result = _detached(self._function(*self._static))
                self._captured = True
            self._graph.replay()
            return self._result


def make_graphed(function: Callable[..., Any], *samples: _gradus.Tensor) -> Graphed:
    """A callable that does what the function does, by one call of the host from its third call on.

    The samples fix shapes, dtypes and device of the inputs, which are tensors on one GPU. The first
    two calls run the function, the third captures it, and later ones replay the graph: what it does
    on the CPU alone, as printing, is not done again. The result has no graph of derivatives, and from
    the third call on it is the same tensors, which the next call overwrites.
    Errors: ValueError and TypeError for an input that differs from its sample; Error, which names the
    operation, where something cannot be captured.
    """
    return Graphed(function, samples)


class amp:
    """Mixed precision on a GPU, under the names of torch.cuda.amp."""

    GradScaler = GradScaler

    @staticmethod
    def custom_fwd(fwd: Any = None, *, cast_inputs: _gradus.dtype | None = None) -> Any:
        """gradus.amp.custom_fwd for "cuda"."""
        return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)

    @staticmethod
    def custom_bwd(bwd: Callable[..., Any] | None = None) -> Any:
        """gradus.amp.custom_bwd for "cuda"."""
        return _custom_bwd(bwd, device_type="cuda")

    class autocast(_autocast):
        """gradus.autocast("cuda")."""

        def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

        def _arguments(self) -> Any:
            return super()._arguments()[2:0:-1]


sys.modules[f"{__name__}.amp"] = amp  # type: ignore[assignment]  # from gradus.cuda.amp import autocast
