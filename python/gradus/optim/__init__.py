"""Optimizers, under the names of torch.optim."""

from __future__ import annotations

from .._gradus._optim import (
    LBFGS as LBFGS, SGD as SGD, Adadelta as Adadelta, Adagrad as Adagrad, Adam as Adam, Adamax as Adamax, AdamW as AdamW,
    Lion as Lion, Muon as Muon, NAdam as NAdam, ParamGroup as ParamGroup, RAdam as RAdam, RMSprop as RMSprop)
from . import adam as adam, adamw as adamw, lbfgs as lbfgs, lr_scheduler as lr_scheduler, optimizer as optimizer, sgd as sgd, \
    swa_utils as swa_utils
from .optimizer import Optimizer as Optimizer, _flat_state_dict as _flat_state_dict
