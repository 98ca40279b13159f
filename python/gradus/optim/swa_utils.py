"""Averages of a model's weights, under the names of torch.optim.swa_utils."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from .. import _gradus
from .._modes import no_grad
from ..nn import Module
from .lr_scheduler import SWALR as SWALR

_Average = Callable[[Any, Any, Any], Any]


def get_swa_avg_fn() -> _Average:
    """A function that makes the mean of all values."""
    return lambda average, value, count: average + (value - average) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> _Average:
    """A function that makes decay * average + (1 - decay) * value."""
    if not 0 <= decay <= 1:
        raise _gradus.ValueError(f"get_ema_avg_fn: decay is {decay}; expected a number from 0 to 1")
    return lambda average, value, count: decay * average + (1 - decay) * value


def _of_lists(average: _Average) -> _Average:
    def of_lists(averages: Any, values: Any, count: Any) -> None:
        for old, new in zip(averages, values):
            old.copy_(average(old, new, count))

    return of_lists


def get_swa_multi_avg_fn() -> _Average:
    """get_swa_avg_fn() of lists of tensors, which it changes."""
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> _Average:
    """get_ema_avg_fn() of lists of tensors, which it changes."""
    return _of_lists(get_ema_avg_fn(decay))


class AveragedModel(Module):
    """A copy of a model whose parameters are an average of those of the model; `module` is the copy.

    avg_fn(average, value, n): the next average, by default the mean of all. multi_avg_fn: the same for lists, in place.
    use_buffers: buffers are averaged, too; otherwise they are copied.
    """

    def __init__(self, model: Module, device: Any = None, avg_fn: _Average | None = None,
                 multi_avg_fn: _Average | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise _gradus.ValueError("AveragedModel: avg_fn and multi_avg_fn are given; expected one of them")
        self.module: Any = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _gradus.tensor(0, device=device))
        self.update: _Average = multi_avg_fn or _of_lists(avg_fn or get_swa_avg_fn())
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the copy returns."""
        return self.module(*args, **kwargs)

    def _values(self, model: Module) -> list[Any]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Takes the model's present weights into the average."""
        own = self._values(self.module)
        new = [value.detach().to(average.device) for average, value in zip(own, self._values(model))]
        floats = [i for i, average in enumerate(own) if average.is_floating_point() or average.is_complex()]
        if int(self.n_averaged) == 0:
            for average, value in zip(own, new):
                average.copy_(value)
        else:
            self.update([own[i].detach() for i in floats], [new[i] for i in floats], self.n_averaged)
            for i in set(range(len(own))) - set(floats):
                own[i].copy_(new[i])
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers()):
                average.copy_(value.to(average.device))
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Makes the statistics of batch normalisation anew, from the batches of a loader; of a batch that is a list, its first."""
    def batches() -> None:
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))

    _gradus._nn._with_statistics_anew(model, batches)


__all__ = ["AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]
