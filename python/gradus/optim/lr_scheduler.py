"""Schedules of learning rates, under the names of torch.optim.lr_scheduler."""

from __future__ import annotations

import collections
import math
import types
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from .. import _gradus
from ._cycles import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts, CyclicLR as CyclicLR, OneCycleLR as OneCycleLR
from ._schedule import LRScheduler as LRScheduler, _Factor, _check_known, _check_optimizer, _for_each_group, _rates, _set_rate

_LRScheduler = LRScheduler


class _OfFunctions(LRScheduler):
    """The base of schedules of functions: one for each group."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, lr_lambda: _Factor | Sequence[_Factor], last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        self.lr_lambdas: list[Any] = _for_each_group(self, optimizer, "lr_lambda", lr_lambda)
        for function in self.lr_lambdas:
            if not callable(function):
                raise _gradus.TypeError(f"{type(self).__name__}: lr_lambda is of type {type(function).__name__}; expected a function")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of a callable object its attributes, of a function nothing."""
        return {**super().state_dict(), "lr_lambdas": [
            None if isinstance(each, types.FunctionType) else dict(getattr(each, "__dict__", {})) for each in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state. Functions stay; callable objects take their attributes."""
        state = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, state.pop("lr_lambdas", ())):
            if attributes:
                function.__dict__.update(attributes)
        super().load_state_dict(state)


class LambdaLR(_OfFunctions):
    """The first rate times lr_lambda(step), or by a list of functions, one for each group."""

    def get_lr(self) -> list[float]:
        return [rate * function(self.last_epoch) for function, rate in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_OfFunctions):
    """Rates that each step multiplies by lr_lambda(step), or by those of a list of functions, one for each group."""

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self._is_initial:
            return rates
        return [rate * function(self.last_epoch) for function, rate in zip(self.lr_lambdas, rates)]


class StepLR(LRScheduler):
    """A rate that is multiplied by gamma after each step_size steps."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return rates
        return [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma ** (self.last_epoch // self.step_size) for rate in self.base_lrs]


class MultiStepLR(LRScheduler):
    """A rate that is multiplied by gamma at each milestone, the number of a step."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones, self.gamma = collections.Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self.last_epoch not in self.milestones:
            return rates
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [rate * self.gamma ** passed for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """A rate that is multiplied by `factor` in the first total_iters steps.

    Errors: ValueError for a factor below 0 or above 1.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise _gradus.ValueError(f"ConstantLR: factor is {factor}; expected a number from 0 to 1")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in rates]
        if self._goes_on() or self.last_epoch != self.total_iters:
            return rates
        return [rate / self.factor for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * (1 if self.last_epoch >= self.total_iters else self.factor) for rate in self.base_lrs]


class LinearLR(LRScheduler):
    """A rate whose factor goes from start_factor to end_factor along a line in total_iters steps.

    Errors: ValueError for a start_factor that is not in (0, 1], or an end_factor that is not in [0, 1].
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
                 total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 < start_factor <= 1:
            raise _gradus.ValueError(f"LinearLR: start_factor is {start_factor}; expected a number above 0 and up to 1")
        if not 0 <= end_factor <= 1:
            raise _gradus.ValueError(f"LinearLR: end_factor is {end_factor}; expected a number from 0 to 1")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in rates]
        if self._goes_on() or self.last_epoch > self.total_iters:
            return rates
        rise = self.end_factor - self.start_factor
        return [rate * (1 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)) for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return [rate * (self.start_factor + (self.end_factor - self.start_factor) * done) for rate in self.base_lrs]


class ExponentialLR(LRScheduler):
    """A rate that each step multiplies by gamma."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        return rates if self._is_initial else [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [rate * self.gamma ** self.last_epoch for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """A rate that falls to 0 in total_iters steps, by the factor (1 - step / total_iters) ** power."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates, left = self._present(), self.total_iters - self.last_epoch
        return rates if self._is_initial or left < 0 else [rate * (left / (left + 1)) ** self.power for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        left = 1 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [rate * left ** self.power for rate in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """A rate that falls to eta_min along half a cosine in T_max steps, and rises again in as many."""

    def __init__(self, optimizer: _gradus._optim.Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self._present()
        if self._is_initial:
            return rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the step before was at eta_min
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * rise for base, rate in zip(self.base_lrs, rates)]
        factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / (1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max))
        return [factor * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self) -> list[float]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]


class _OfSchedules(LRScheduler):
    """The base of schedules that consist of others."""

    _schedulers: list[Any]

    def _take(self, schedulers: Iterable[Any], optimizer: Any) -> None:
        self._schedulers, name = list(schedulers), type(self).__name__
        if not self._schedulers:
            raise _gradus.ValueError(f"{name}: schedulers is empty; expected at least one schedule")
        for number, each in enumerate(self._schedulers):
            if not hasattr(each, "optimizer"):
                raise _gradus.TypeError(f"{name}: schedulers[{number}] is of type {type(each).__name__}; expected a schedule")
            if isinstance(each, ReduceLROnPlateau):
                raise _gradus.ValueError(f"{name}: schedulers[{number}] is a ReduceLROnPlateau, whose step() takes a metric; "
                                         "call its step() beside this schedule")
            optimizer = each.optimizer if optimizer is None else optimizer
            if each.optimizer is not optimizer:
                raise _gradus.ValueError(f"{name}: schedulers[{number}] is of another optimizer; expected schedules of one optimizer")
        self.optimizer = optimizer

    def _first(self) -> list[Any]:
        """The schedules that begin first."""
        return self._schedulers

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begins anew, as SequentialLR asks for it at a milestone."""
        self.last_epoch = 0
        for group in self.optimizer.param_groups:
            _set_rate(group, group["initial_lr"])
        for each in self._first():
            if isinstance(each, _OfSchedules):
                each._update_lr(0)
            else:
                each.last_epoch = -1
                each._initial_step()
        self._last_lr = _rates(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, and the states of the schedules."""
        return {**super().state_dict(), "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state, and gives each schedule its own.

        Errors: ValueError where there are not as many states as schedules.
        """
        state = dict(state_dict)
        states = state.pop("_schedulers", [])
        if len(states) != len(self._schedulers):
            raise _gradus.ValueError(f"{type(self).__name__}.load_state_dict: the state has {len(states)} schedules; expected "
                                     f"{len(self._schedulers)}")
        super().load_state_dict(state)
        for each, its in zip(self._schedulers, states):
            each.load_state_dict(its)


class SequentialLR(_OfSchedules):
    """Schedules one after another. milestones: the steps with which the second and all further ones begin.

    Errors: ValueError where schedules are missing, of another optimizer, or not one more than milestones.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, schedulers: Iterable[Any], milestones: Sequence[int],
                 last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        self._take(schedulers, optimizer)
        if len(milestones) != len(self._schedulers) - 1:
            raise _gradus.ValueError(f"SequentialLR: {len(self._schedulers)} schedules have {len(milestones)} milestones; expected "
                                     f"{len(self._schedulers) - 1}")
        self._milestones = list(milestones)
        self._undo(self._schedulers)
        self._update_lr(0)
        if last_epoch >= 0:
            optimizer.__dict__["_opt_called"] = True  # in the run before
        for _ in range(last_epoch + 1):
            self.step()

    def _first(self) -> list[Any]:
        return [self._schedulers[bisect_right(self._milestones, 0)]]

    def _undo(self, schedules: Iterable[Any]) -> None:
        """Takes back the first step of each schedule: only one of them begins now."""
        for each in schedules:
            if isinstance(each, _OfSchedules):
                self._undo(each._schedulers)
            else:
                each.last_epoch -= 1

    def step(self, epoch: int | None = None) -> None:
        """Sets the next rates.

        Errors: ValueError for a given step: each schedule changes the rates of the step before.
        """
        _check_no_epoch(self, epoch)
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        present = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            present._update_lr(0)
        else:
            present.step()
        self._last_lr = present.get_last_lr()


class ChainedScheduler(_OfSchedules):
    """Schedules whose factors are multiplied. optimizer: that of the schedules where it is not given.

    Errors: ValueError where schedules are missing or of another optimizer.
    """

    def __init__(self, schedulers: Iterable[Any], optimizer: _gradus._optim.Optimizer | None = None) -> None:
        self._take(schedulers, optimizer)
        self._last_lr = _rates(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """Sets the next rates of all schedules.

        Errors: ValueError for a given step: each schedule changes the rates of the step before.
        """
        _check_no_epoch(self, epoch)
        for each in self._schedulers:
            each.step()
        self._last_lr = _rates(self.optimizer)


def _check_no_epoch(schedule: Any, epoch: Any) -> None:
    if epoch is not None:
        raise _gradus.ValueError(f"{type(schedule).__name__}.step: epoch is {epoch}; expected none: call step() once for each step")


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rates by `factor` where a metric was no better in more than `patience` steps.

    mode: min where the metric is to fall, max where it is to rise.
    threshold, threshold_mode: by how much it must be better: rel is a part of the best value, abs a difference.
    cooldown: the steps after a reduction that are not counted. min_lr: the least rate, or a list with one for each group.
    eps: a reduction by less is left out.
    Errors: ValueError for a factor of 1 or more, an unknown mode or threshold_mode, and a min_lr for another number of groups.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0.0,
                 eps: float = 1e-8) -> None:
        _check_optimizer(self, optimizer)
        if factor >= 1:
            raise _gradus.ValueError(f"ReduceLROnPlateau: factor is {factor}; expected a number below 1")
        _check_known(self, "mode", mode, ("min", "max"))
        _check_known(self, "threshold_mode", threshold_mode, ("rel", "abs"))
        self.optimizer, self.factor, self.patience, self.cooldown, self.eps = optimizer, factor, patience, cooldown, eps
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs: list[float] = _for_each_group(self, optimizer, "min_lr", min_lr)
        self.mode, self.threshold, self.threshold_mode, self.last_epoch = mode, threshold, threshold_mode, 0
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._last_lr = _rates(optimizer)
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self) -> bool:
        """Whether steps are not counted, after a reduction."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        wanted = best * (1 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return sign * value > sign * wanted

    def step(self, metrics: Any, epoch: int | None = None) -> None:
        """Takes a loss or another metric, a number or a tensor of one, and lowers the rates where it has stopped falling."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(float(metrics), self.best):
            self.best, self.num_bad_epochs = float(metrics), 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = _rates(self.optimizer)

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):  # a group has been added
            if self.default_min_lr is None:
                raise _gradus.ValueError(f"ReduceLROnPlateau: min_lrs has {len(self.min_lrs)} values; expected {len(groups)}, one for "
                                         "each group of the optimizer. Set min_lrs where a group is added")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            rate = float(group["lr"])
            reduced = max(rate * self.factor, least)
            if rate - reduced > self.eps:
                _set_rate(group, reduced)


class SWALR(LRScheduler):
    """A rate that goes from that of the group to swa_lr in anneal_epochs steps, along a cosine or a line, and stays there.

    swa_lr: a number, or a list with one for each group.
    Errors: ValueError for an unknown anneal_strategy, and for anneal_epochs below 0.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
                 last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        _check_known(self, "anneal_strategy", anneal_strategy, ("cos", "linear"))
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise _gradus.ValueError(f"SWALR: anneal_epochs is {anneal_epochs}; expected an integer of 0 or more")
        for group, rate in zip(optimizer.param_groups, _for_each_group(self, optimizer, "swa_lr", swa_lr)):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How much of the way is done after the part t of all steps."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        step, steps = self._step_count - 1, max(1, self.anneal_epochs)
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, number / steps))) for number in (step - 1, step))
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self._present()):
            last = group["swa_lr"]
            first = last if before == 1 else (rate - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates
