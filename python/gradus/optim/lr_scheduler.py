"""Schedules of learning rates, under the names of torch.optim.lr_scheduler."""

from __future__ import annotations

from typing import Any

from .. import _gradus

LRScheduler = _gradus._optim.LRScheduler
for _name, _value in vars(_gradus._optim).items():
    if isinstance(_value, type) and (issubclass(_value, LRScheduler) or _name == "ReduceLROnPlateau"):
        globals()[_name] = _value


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

    def __init__(self, optimizer: _gradus._optim.Optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer, lambda epoch: gamma ** (epoch // step_size))
        self.step_size, self.gamma = step_size, gamma


class MultiplicativeLR(_gradus._optim.LambdaLR):
    """Rates that each step multiplies by lr_lambda(step), or by those of a list of functions, one for each group."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, lr_lambda: Any) -> None:
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(optimizer.param_groups)

        def product(function: Any) -> Any:
            factors = [1.0]

            def up_to(epoch: int) -> float:
                while len(factors) <= epoch:
                    factors.append(factors[-1] * function(len(factors)))
                return factors[epoch]

            return up_to

        super().__init__(optimizer, [product(function) for function in functions])


class ChainedScheduler(_gradus._optim.ChainedScheduler):
    """Schedules whose factors are multiplied. optimizer: that of the schedules where it is not given."""

    def __init__(self, schedulers: Any, optimizer: _gradus._optim.Optimizer | None = None) -> None:
        schedulers = list(schedulers)
        super().__init__(schedulers, optimizer if optimizer is not None else schedulers[0].optimizer)
