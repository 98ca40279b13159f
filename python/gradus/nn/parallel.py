"""A module on several devices, or in several ranks, under the names of torch.nn.parallel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .._gradus import Tensor, TypeError, _cuda, _distributed
from ..utils._tree import flatten, unflatten

__all__ = ["DataParallel", "DistributedDataParallel"]


def _refuse_copies(self: Any, *args: Any) -> Any:
    raise TypeError(f"{type(self).__name__} is not copied; copy its module")


class DataParallel(_distributed._DataParallel):
    """One batch on several devices of one process.

    Every call splits the tensors among its arguments along `dim`, runs a copy of the module on each
    device in a thread of its own, and joins the results. The module is on the first device; the
    copies are kept, and get the parameters and buffers that have changed. Parameters have the
    module's names. n devices give the same bits as the n parts one after the other on one device.

    device_ids: devices, or indices of GPUs; by default all GPUs. output_device: by default the first.
    Where there is no GPU, and no other devices are given, a call is one of the module as it is.
    Errors: those of the module, which name the device; Error where the module is elsewhere.
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        of_gpus = device_ids is None or device_ids and all(isinstance(x, int) or str(x).startswith("cuda") for x in device_ids)
        alone = bool(of_gpus) and not _cuda.is_available()
        super().__init__(module, ["cpu"] if alone else device_ids, None if alone else output_device, dim)
        self.__dict__.update(module=module, _alone=alone)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returns for the whole batch."""
        if self._alone:
            return self.module(*args, **kwargs)
        tensors: list[Tensor] = []
        given = flatten((args, kwargs), tensors)
        shapes: dict[int, Any] = {}

        def call(replica: int, module: Any, parts: list[Tensor]) -> list[Tensor]:
            args, kwargs = unflatten(given, iter(parts))
            results: list[Tensor] = []
            shapes[replica] = flatten(module(*args, **kwargs), results)
            return results

        results: Any = self._run(tensors, call)
        return unflatten(shapes[0], iter(results))

    __deepcopy__: Any = _refuse_copies
    __reduce_ex__: Any = _refuse_copies


class DistributedDataParallel(_distributed._DistributedModule):
    """A module that every rank trains on its share of each batch; backward() averages the gradients.

    broadcast_buffers: rank 0's buffers are copied to the others before each forward pass in training.
    process_group: all ranks where it is None. bucket_cap_mb: how many MiB of gradients are sent
    together. find_unused_parameters: allows parameters without a gradient in a step.
    Errors, at all ranks: ValueError where no parameter requires grad, or the ranks' modules differ.
    """

    def __init__(self, module: Any, *, broadcast_buffers: bool = True, process_group: Any = None,
                 bucket_cap_mb: float = 25.0, find_unused_parameters: bool = False) -> None:
        super().__init__(module, broadcast_buffers, process_group, float(bucket_cap_mb),
                         find_unused_parameters)
        self.__dict__["module"] = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        self._before_forward()
        return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes of new forward passes in the block only add up gradients.

        The first backward pass after it averages all of them.
        """
        scope = _distributed._NoSync(self)
        try:
            yield
        finally:
            scope.leave()

    __deepcopy__: Any = _refuse_copies
    __reduce_ex__: Any = _refuse_copies
