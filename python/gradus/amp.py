"""Mixed precision, under the names of torch.amp."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import _gradus
from ._gradus._amp import GradScaler as _GradScaler, autocast
from ._modes import _Mode
from .utils._tree import flat

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

setattr(autocast, "__call__", _Mode.__call__)


class GradScaler(_GradScaler):
    """A scale for losses, so that gradients of float16 are not 0.

    device: taken, without effect: gradients are scaled on any device. It may be left out.
    Errors: Error where step(), unscale_() or update() is called, and scale() has not been.
    """

    def __init__(self, device: Any = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        if isinstance(device, (int, float)):  # the scale came first
            init_scale = device
        super().__init__(init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self._has_scaled = False
        self._given = dict(growth_factor=growth_factor, backoff_factor=backoff_factor, growth_interval=growth_interval)

    def scale(self, outputs: Any) -> Any:
        """The outputs times the scale: a tensor, or lists and tuples of tensors."""
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        self._has_scaled = True
        return super().scale(outputs)

    def _check_scaled(self, name: str) -> None:
        if self.is_enabled() and not self._has_scaled:
            raise _gradus.Error(f"GradScaler.{name}: nothing has been scaled, so gradients would be divided by a scale that they "
                                "do not have; call scale(loss).backward() first")

    def unscale_(self, optimizer: _gradus._optim.Optimizer) -> None:
        """Divides the gradients by the scale."""
        self._check_scaled("unscale_")
        super().unscale_(optimizer)

    def step(self, optimizer: _gradus._optim.Optimizer) -> None:
        """Steps, unless a gradient is infinite or NaN."""
        self._check_scaled("step")
        super().step(optimizer)

    def update(self, new_scale: float | None = None) -> None:
        """Ends an iteration: sets the next scale."""
        self._check_scaled("update")
        super().update(new_scale)

    def _option(self, name: str) -> Any:
        return {**self._given, **self.state_dict()}[name]

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after growth_interval steps without an infinite or NaN gradient."""
        return float(self._option("growth_factor"))

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a step with one."""
        return float(self._option("backoff_factor"))

    def get_growth_interval(self) -> int:
        """How many steps without one make the scale grow."""
        return int(self._option("growth_interval"))


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: _gradus.dtype | None = None) -> Any:
    """Decorates the forward of an autograd.Function whose backward has custom_bwd: that computes in the same mode of autocast.

    cast_inputs: where autocast is on, inputs of a floating point type on that device come with this dtype, and forward
    computes without autocast.

    >>> import gradus
    >>> class Double(gradus.autograd.Function):
    ...     @staticmethod
    ...     @gradus.amp.custom_fwd(device_type="cpu", cast_inputs=gradus.float32)
    ...     def forward(ctx, x):
    ...         return x + x
    ...     @staticmethod
    ...     @gradus.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> with gradus.autocast("cpu"):
    ...     Double.apply(gradus.ones(1, dtype=gradus.bfloat16)).dtype
    gradus.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    def cast(x: Any) -> Any:
        fits = x.is_floating_point() and x.device.type == device_type and x.dtype is not _gradus.float64
        return x.to(cast_inputs) if fits else x

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled = _gradus.is_autocast_enabled(device_type)
        ctx._autocast = device_type, _gradus.get_autocast_dtype(device_type), enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        tensors: list[Any] = []
        rebuild = flat((args, kwargs), tensors)
        args, kwargs = rebuild(map(cast, tensors))
        with autocast(device_type, enabled=False):
            return fwd(ctx, *args, **kwargs)

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates the backward of an autograd.Function whose forward has custom_fwd: it computes in that one's mode of autocast."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *grads: Any) -> Any:
        with autocast(*ctx._autocast):
            return bwd(ctx, *grads)

    return decorated
