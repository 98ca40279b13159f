"""What is kept for the backward pass, in another form, under the names of torch.autograd.graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _gradus

__all__ = ["save_on_cpu", "saved_tensors_hooks"]


class saved_tensors_hooks:
    """In the `with` block, operations keep pack_hook(tensor) for the backward pass, and unpack_hook() of it is the tensor again.

    pack_hook gets a tensor without a graph, which it must not change, and may return any object. Of blocks within one
    another the innermost counts.

    >>> import gradus
    >>> x = gradus.tensor([1.0, 2.0], requires_grad=True)
    >>> with gradus.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), gradus.tensor):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self._begin = lambda: _gradus._saved_tensors_hooks(pack_hook, unpack_hook)

    def __enter__(self) -> None:
        self._hooks = self._begin()

    def __exit__(self, *error: object) -> None:
        self._hooks.end()


class save_on_cpu(saved_tensors_hooks):
    """In the `with` block, what the backward pass needs is kept in the memory of the CPU: less memory of a GPU for more time.

    pin_memory: in page-locked memory, copied without waiting. device_type: taken, without effect.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        self._begin = lambda: _gradus._save_on_cpu(pin_memory)
