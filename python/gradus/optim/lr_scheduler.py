"""Schedules of learning rates, under the names of torch.optim.lr_scheduler."""

from __future__ import annotations

import math
from abc import ABC
from typing import Any

from .. import _gradus

for _name, _value in vars(_gradus._optim).items():
    if isinstance(_value, type) and (issubclass(_value, _gradus._optim.LRScheduler) or _name == "ReduceLROnPlateau"):
        globals()[_name] = _value


class LRScheduler(ABC):
    """The base of a schedule that is written in Python: a class derives from it and has get_lr().

    get_lr() returns the rate of each group after last_epoch steps; base_lrs has the first ones.

    >>> import gradus
    >>> class Halved(gradus.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2 ** self.last_epoch for rate in self.base_lrs]
    >>> sgd = gradus.optim.SGD([gradus.nn.Parameter(gradus.ones(1))], lr=1.0)
    >>> halved = Halved(sgd)
    >>> halved.step()
    >>> halved.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, last_epoch: int = -1) -> None:
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs: list[float] = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self._last_lr: list[float] = []
        self.step()

    def get_lr(self) -> list[float]:
        """The rate of each group after last_epoch steps."""
        raise NotImplementedError(f"{type(self).__name__}: a schedule needs get_lr()")

    def get_last_lr(self) -> list[float]:
        """The rate of each group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Sets the next rates, or those of the given step."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state."""
        self.__dict__.update(state_dict)


LRScheduler.register(_gradus._optim.LRScheduler)  # schedules of C++ are schedules, too
_LRScheduler = LRScheduler


class OneCycleLR(_gradus._optim.OneCycleLR):
    """A rate that rises to max_lr and falls below the first one, within total_steps.

    epochs, steps_per_epoch: their product is total_steps, where that is not given.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, max_lr: Any, total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None, **options: Any) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise _gradus.ValueError("OneCycleLR: the number of steps is missing; expected "
                                         "total_steps, or both epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        super().__init__(optimizer, max_lr, total_steps, **options)


class StepLR(_gradus._optim.LambdaLR):
    """A rate that is multiplied by gamma after each step_size steps.

    That of C++ is libtorch's, which counts from the step after.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** (epoch // step_size), last_epoch)
        self.step_size, self.gamma = step_size, gamma


class MultiplicativeLR(_gradus._optim.LambdaLR):
    """Rates that each step multiplies by lr_lambda(step), or by those of a list of functions, one for each group."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(optimizer.param_groups)

        def product(function: Any) -> Any:
            factors = [1.0]

            def up_to(epoch: int) -> float:
                while len(factors) <= epoch:
                    factors.append(factors[-1] * function(len(factors)))
                return factors[epoch]

            return up_to

        super().__init__(optimizer, [product(function) for function in functions], last_epoch)


class CosineAnnealingWarmRestarts(_gradus._optim.CosineAnnealingWarmRestarts):
    """A rate that falls along half a cosine in T_0 steps, then begins anew; each time it falls T_mult times as long."""

    optimizer: _gradus._optim.Optimizer

    def __init__(self, optimizer: _gradus._optim.Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        super().__init__(optimizer, T_0, T_mult, eta_min, last_epoch)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min

    def step(self, epoch: float | None = None) -> None:
        """Sets the next rates, or those of the given step, which may lie between two: epoch + batch / batches."""
        super().step(None if epoch is None else math.floor(epoch))
        if epoch is None or epoch == math.floor(epoch):
            return
        since, length = epoch, self.T_0
        while since >= length:
            since, length = since - length, length * self.T_mult
        for group in self.optimizer.param_groups:
            group["lr"] = self.eta_min + (group["initial_lr"] - self.eta_min) * (1 + math.cos(math.pi * since / length)) / 2


class ChainedScheduler(_gradus._optim.ChainedScheduler):
    """Schedules whose factors are multiplied. optimizer: that of the schedules where it is not given."""

    def __init__(self, schedulers: Any, optimizer: _gradus._optim.Optimizer | None = None) -> None:
        schedulers = list(schedulers)
        super().__init__(schedulers, optimizer if optimizer is not None else schedulers[0].optimizer)
