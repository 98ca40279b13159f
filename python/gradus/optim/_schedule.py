"""What all schedules of learning rates share."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _gradus
from .optimizer import _groups_of, _see_steps

_Optimizer = _gradus._optim.Optimizer
_Factor = Callable[[int], float]


def _rates(optimizer: Any) -> list[Any]:
    """The rate of each group. One that is a tensor is copied: it will change in place."""
    rates = [group["lr"] for group in _groups_of(optimizer)]
    return [rate.clone() if isinstance(rate, _gradus.Tensor) else rate for rate in rates]


def _set_rate(group: Any, rate: Any) -> None:
    if isinstance(group["lr"], _gradus.Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def _set_momentum(group: Any, momentum: float) -> None:
    """Sets the momentum, which is the first of `betas` where the optimizer has those."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _check_optimizer(schedule: Any, optimizer: Any) -> None:
    if not isinstance(optimizer, _Optimizer):
        raise _gradus.TypeError(f"{type(schedule).__name__}: optimizer is of type {type(optimizer).__name__}; expected an Optimizer")


def _check_momentum(schedule: Any, optimizer: Any) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise _gradus.ValueError(f"{type(schedule).__name__}: cycle_momentum is True, and {type(optimizer).__name__} has neither "
                                 "momentum nor betas; pass cycle_momentum=False")


def _versions(optimizer: Any) -> int:
    """A number that grows with each change of a parameter, also by a step that C++ takes."""
    return sum(parameter._version for group in optimizer.param_groups for parameter in group["params"])


def _has_stepped(optimizer: Any) -> bool:
    attributes = optimizer.__dict__
    return "_opt_called" in attributes or attributes.get("_versions_before", 0) != _versions(optimizer)


def _for_each_group(schedule: Any, optimizer: Any, name: str, value: Any) -> list[Any]:
    """A value for each group: those of a list, or one for all."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise _gradus.ValueError(f"{type(schedule).__name__}: {name} has {len(value)} values; expected {count}, "
                                 "one for each group of the optimizer")
    return list(value)


def _check_positive(schedule: Any, name: str, value: Any) -> None:
    if not isinstance(value, int) or value <= 0:
        raise _gradus.ValueError(f"{type(schedule).__name__}: {name} is {value}; expected a positive integer")


def _check_known(schedule: Any, name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise _gradus.ValueError(f"{type(schedule).__name__}: {name} {value} is unknown; expected {' or '.join(known)}")


def _as_before(schedule: Any, name: str, value: Any) -> Any:
    """The value of a state as the schedule's own value has its kind: files of C++ have tensors for numbers."""
    own = schedule.__dict__.get(name)
    if isinstance(value, _gradus.Tensor) and not isinstance(own, _gradus.Tensor):
        value = value.tolist()
    if isinstance(own, (int, float)) and not isinstance(value, (int, float)):
        raise _gradus.TypeError(f"{type(schedule).__name__}.load_state_dict: {name} is of type {type(value).__name__}; "
                                "expected a number")
    return collections.Counter(value) if isinstance(own, collections.Counter) else value


class LRScheduler:
    """The base of all schedules. One that a program writes derives from it and has get_lr().

    get_lr() returns the rate of each group after last_epoch steps; base_lrs has the first ones.
    last_epoch: the step before the first one of this schedule, or -1. Behind other steps, the groups need initial_lr, as
    they have it when the optimizer has loaded its state.
    A schedule begins with a step of its own, to number 0. Make it before load_state_dict() of the optimizer.
    Errors: TypeError for what is no optimizer; KeyError where a group lacks initial_lr.

    >>> import gradus
    >>> class Halved(gradus.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [rate / 2 ** self.last_epoch for rate in self.base_lrs]
    >>> sgd = gradus.optim.SGD([gradus.nn.Parameter(gradus.ones(1))], lr=1.0)
    >>> halved = Halved(sgd)
    >>> sgd.step()
    >>> halved.step()
    >>> halved.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: _gradus._optim.Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        for number, (group, rate) in enumerate(zip(optimizer.param_groups, _rates(optimizer))):
            if last_epoch == -1:
                group.setdefault("initial_lr", rate)
            elif "initial_lr" not in group:
                raise KeyError(f"{type(self).__name__}: param_groups[{number}] has no initial_lr, and last_epoch is {last_epoch}; "
                               "load the state of the optimizer first, or leave last_epoch out")
        _see_steps(optimizer)
        optimizer.__dict__.setdefault("_versions_before", _versions(optimizer))
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self._last_lr: list[float] = []
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rate of each group after last_epoch steps; step() asks for it. get_last_lr() is for programs."""
        raise NotImplementedError(f"{type(self).__name__}: a schedule needs get_lr()")

    def get_last_lr(self) -> list[float]:
        """The rate of each group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Sets the next rates, or those of the given step. Call it after step() of the optimizer."""
        if self._step_count == 1 and not _has_stepped(self.optimizer):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first rate of the schedule is "
                          "skipped. Call `optimizer.step()` first.", UserWarning, stacklevel=2)
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr() if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr)()
        finally:
            self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _set_rates(self, rates: Iterable[float]) -> None:
        for group, rate in zip(_groups_of(self.optimizer), rates):
            _set_rate(group, rate)
        self._last_lr = _rates(self.optimizer)

    def _present(self) -> list[Any]:
        """The rates that get_lr() changes."""
        if not self._get_lr_called_within_step:
            warnings.warn(f"{type(self).__name__}.get_lr() computes the next rates; use get_last_lr()", UserWarning, stacklevel=3)
        return _rates(self.optimizer)

    def _goes_on(self) -> bool:
        """Whether the schedule is being made behind another step: the groups have the rates."""
        return self._is_initial and self.last_epoch > 0

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state. The rates themselves are in the state of the optimizer.

        Errors: TypeError where a number is expected, and the value is none.
        """
        self.__dict__.update({name: _as_before(self, name, value) for name, value in state_dict.items()})
