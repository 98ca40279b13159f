"""Schedules that go up and down."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

from .. import _gradus
from ._schedule import LRScheduler, _check_known, _check_momentum, _check_optimizer, _check_positive, _for_each_group
from ._schedule import _set_momentum, _set_rate


class CosineAnnealingWarmRestarts(LRScheduler):
    """A rate that falls along half a cosine in T_0 steps, then begins anew; each time it falls T_mult times as long.

    T_cur: the steps since it last began. T_i: the steps that it falls now.
    Errors: ValueError where T_0 or T_mult is no positive integer.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        _check_positive(self, "T_0", T_0)
        _check_positive(self, "T_mult", T_mult)
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, float(last_epoch)
        if last_epoch >= 0:
            self._go_to(last_epoch)
        super().__init__(optimizer, last_epoch)

    def _go_to(self, epoch: float) -> None:
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur %= self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult

    def get_lr(self) -> list[float]:
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (rate - self.eta_min) * height for rate in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Sets the next rates, or those of the given step, which may lie between two: epoch + batch / batches.

        Errors: ValueError for a step below 0.
        """
        if epoch is not None and epoch < 0:
            raise _gradus.ValueError(f"CosineAnnealingWarmRestarts.step: epoch is {epoch}; expected 0 or more")
        self._update_lr(epoch)

    def _update_lr(self, epoch: Any = None) -> None:
        if epoch is not None or self.last_epoch < 0:
            self._go_to(epoch or 0)
        else:
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        super()._update_lr(None if epoch is None else math.floor(epoch))


class OneCycleLR(LRScheduler):
    """A rate that rises to max_lr and falls below the first one, within total_steps.

    epochs, steps_per_epoch: their product is total_steps, where that is not given.
    max_lr, base_momentum, max_momentum: numbers, or lists with one for each group.
    Errors: ValueError where the number of steps is missing or not positive, for an unknown anneal_strategy, for a pct_start
    that is not from 0 to 1, where the optimizer has no momentum to cycle, and for a step behind total_steps.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, max_lr: Any, total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95,
                 div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise _gradus.ValueError("OneCycleLR: the number of steps is missing; expected "
                                         "total_steps, or both epochs and steps_per_epoch")
            _check_positive(self, "epochs", epochs)
            _check_positive(self, "steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        _check_positive(self, "total_steps", total_steps)
        _check_known(self, "anneal_strategy", anneal_strategy, ("cos", "linear"))
        if not 0 <= pct_start <= 1:
            raise _gradus.ValueError(f"OneCycleLR: pct_start is {pct_start}; expected a number from 0 to 1")
        self.total_steps, self._anneal_func_type, self.cycle_momentum = total_steps, anneal_strategy, cycle_momentum
        top, last = pct_start * total_steps - 1, total_steps - 1
        # The last step of each phase, and the options of a group between which the rate and the momentum go.
        phases = [(top, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                  (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                  (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")] if three_phase else [
                 (top, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                 (last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases: list[dict[str, Any]] = [dict(zip(names, phase)) for phase in phases]

        for group, rate in zip(optimizer.param_groups, _for_each_group(self, optimizer, "max_lr", max_lr)):
            if last_epoch == -1 or "max_lr" not in group:
                group.update(initial_lr=rate / div_factor, max_lr=rate, min_lr=rate / div_factor / final_div_factor)
        if cycle_momentum:
            _check_momentum(self, optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            lows = _for_each_group(self, optimizer, "base_momentum", base_momentum)
            highs = _for_each_group(self, optimizer, "max_momentum", max_momentum)
            for group, low, high in zip(optimizer.param_groups, lows, highs):
                if last_epoch == -1 or "max_momentum" not in group:
                    group.update(max_momentum=high, base_momentum=low)
                    _set_momentum(group, high)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "linear":
            return start + (end - start) * part
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise _gradus.ValueError(f"OneCycleLR: tried to step {self.last_epoch} times; expected at most total_steps, "
                                     f"{self.total_steps}. Pass total_steps as often as step() is called")
        start, phase = 0.0, self._schedule_phases[-1]
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (self.last_epoch - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                _set_momentum(group, self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part))
        return rates


class CyclicLR(LRScheduler):
    """A rate that rises from base_lr to max_lr in step_size_up steps, falls in step_size_down, and begins anew.

    mode: triangular; triangular2, where each rise is half the one before; or exp_range, by the factor gamma ** step.
    scale_fn: a function in place of the mode, of the number of the cycle or, where scale_mode is "iterations", of the step.
    base_lr, max_lr, base_momentum, max_momentum: numbers, or lists with one for each group.
    Errors: ValueError for an unknown mode or scale_mode, and where the optimizer has no momentum to cycle.
    """

    def __init__(self, optimizer: _gradus._optim.Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
                 step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
                 base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1) -> None:
        _check_optimizer(self, optimizer)
        _check_known(self, "scale_mode", scale_mode, ("cycle", "iterations"))
        if scale_fn is None:
            _check_known(self, "mode", mode, ("triangular", "triangular2", "exp_range"))
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        base_lrs = _for_each_group(self, optimizer, "base_lr", base_lr)
        self.max_lrs = _for_each_group(self, optimizer, "max_lr", max_lr)
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self.scale_mode, self._scale_fn_custom = mode, gamma, scale_mode, scale_fn
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _check_momentum(self, optimizer)
            self.use_beta1 = "betas" in optimizer.defaults
            self.base_momentums = _for_each_group(self, optimizer, "base_momentum", base_momentum)
            self.max_momentums = _for_each_group(self, optimizer, "max_momentum", max_momentum)
        if last_epoch == -1:
            for i, group in enumerate(optimizer.param_groups):
                _set_rate(group, base_lrs[i])
                if cycle_momentum:
                    group.update(max_momentum=self.max_momentums[i], base_momentum=self.base_momentums[i])
                    _set_momentum(group, self.max_momentums[i])
        self.base_lrs = base_lrs
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The factor of a cycle or of a step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return float(2.0 ** (1 - x) if self.mode == "triangular2" else self.gamma ** x)

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                _set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of a scale_fn that is a callable object its attributes, of a function nothing."""
        function = self._scale_fn_custom
        kept = None if function is None or isinstance(function, types.FunctionType) else dict(function.__dict__)
        return {**super().state_dict(), "_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state. A scale_fn stays; a callable object takes its attributes."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        if attributes and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict(state)
