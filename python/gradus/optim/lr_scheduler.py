"""Schedules of learning rates, under the names of torch.optim.lr_scheduler."""

from .. import _gradus

LRScheduler = _gradus._optim.LRScheduler
for _name, _value in vars(_gradus._optim).items():
    if isinstance(_value, type) and (issubclass(_value, LRScheduler) or _name == "ReduceLROnPlateau"):
        globals()[_name] = _value
