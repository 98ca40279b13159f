"""The learning rates of schedules that make.py writes to schedules.txt."""
import warnings

import torch
from torch.optim import lr_scheduler as schedulers

STEPS = 40


def rates(make, values=("lr",), metrics=None):
    """The values of both groups at first and after each step."""
    p, q = torch.zeros(1), torch.zeros(1)
    optimizer = torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.1}], lr=0.4, momentum=0.5)
    scheduler = make(optimizer)

    def now():
        return [float(group[value]) for value in values for group in optimizer.param_groups]
    kept = [now()]
    for step in range(STEPS):
        optimizer.step()
        scheduler.step(*([] if metrics is None else [metrics[step]]))
        kept.append(now())
    return torch.tensor(kept, dtype=torch.float64)


def schedules(out):
    warnings.simplefilter("ignore")
    settings = {
        "StepLR": [(3, 0.5), (7, 0.1), (1, 0.9), (50, 0.1)],
        "ConstantLR": [(0.25, 5), (0.5, 1), (1.0, 50)],
        "LinearLR": [(0.25, 1.0, 5), (1.0, 0.0, 30), (0.5, 0.75, 1), (0.1, 1.0, 60)],
        "ExponentialLR": [(0.9,), (1.0,), (1.1,)],
        "PolynomialLR": [(5, 1.0), (30, 2.0), (60, 0.5)],
        "CosineAnnealingLR": [(40, 0.0), (10, 0.01), (13, 0.2), (100, 0.0)],
        "CosineAnnealingWarmRestarts": [(10, 1, 0.0), (3, 2, 0.05), (1, 3, 0.0), (60, 1, 0.1)]}
    for name, all_arguments in settings.items():
        for arguments in all_arguments:
            words = " ".join(map(str, arguments))
            out.case(f"{name} {words}", lambda: rates(lambda o: getattr(schedulers, name)(o, *arguments)))
    for gamma, milestones in ((0.1, [5, 20]), (0.5, [3, 3, 30, 7]), (0.9, [0, 1]), (0.5, [])):
        words = " ".join(map(str, [gamma, *milestones]))
        out.case(f"MultiStepLR {words}",
                 lambda: rates(lambda o: schedulers.MultiStepLR(o, milestones, gamma)))
    out.case("LambdaLR one", lambda: rates(lambda o: schedulers.LambdaLR(o, lambda step: 0.95 ** step)))
    out.case("LambdaLR two", lambda: rates(
        lambda o: schedulers.LambdaLR(o, [lambda step: 1 / (1 + step), lambda step: step / 8])))
    out.case("SequentialLR warm", lambda: rates(lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1, 1.0, 5), schedulers.CosineAnnealingLR(o, 35)], [5])))
    out.case("SequentialLR three", lambda: rates(lambda o: schedulers.SequentialLR(
        o, [schedulers.ConstantLR(o, 0.1, 60), schedulers.ExponentialLR(o, 0.9),
            schedulers.MultiStepLR(o, [4, 8], 0.5)], [7, 20])))
    base = dict(total_steps=40, pct_start=0.3, anneal_strategy="cos", cycle_momentum=True,
                base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4,
                three_phase=False)
    for changed in ({}, {"total_steps": 50, "three_phase": True}, {"anneal_strategy": "linear"},
                    {"pct_start": 0.5, "div_factor": 4.0, "final_div_factor": 10.0},
                    {"cycle_momentum": False, "three_phase": True, "anneal_strategy": "linear"},
                    {"base_momentum": 0.5, "max_momentum": 0.75, "pct_start": 0.125}):
        o = {**base, **changed}
        words = " ".join(str(int(v) if isinstance(v, bool) else v) for v in o.values())
        out.case(f"OneCycleLR {words}", lambda: rates(
            lambda optimizer: schedulers.OneCycleLR(optimizer, [0.5, 0.25], **o), ("lr", "momentum")))
    cycles(out)
    generator = torch.Generator().manual_seed(0)
    metrics = out.let("metrics", 2 + torch.rand(STEPS, generator=generator, dtype=torch.float64)
                      - torch.linspace(0, 1, STEPS, dtype=torch.float64)).tolist()
    base = dict(mode="min", factor=0.5, patience=3, threshold=1e-4, threshold_mode="rel", cooldown=0,
                min_lr=0.0, eps=1e-8)
    for changed in ({}, {"mode": "max"}, {"threshold": 0.1}, {"threshold": 0.1, "threshold_mode": "abs"},
                    {"mode": "max", "threshold": 0.05, "threshold_mode": "abs"},
                    {"mode": "max", "threshold": 0.05, "patience": 0},
                    {"patience": 0, "cooldown": 2}, {"patience": 1, "min_lr": 0.0625},
                    {"patience": 0, "eps": 0.03}):
        o = {**base, **changed}
        words = " ".join(map(str, o.values()))
        out.case(f"ReduceLROnPlateau {words}", lambda: rates(
            lambda optimizer: schedulers.ReduceLROnPlateau(optimizer, **o), metrics=metrics))


def cycles(out):
    """CyclicLR, ChainedScheduler and SWALR; the words of the first are its options in order."""
    base = dict(step_size_up=7, step_size_down=0, mode="triangular", gamma=1.0, cycle_momentum=True,
                base_momentum=0.5, max_momentum=0.75)
    for changed in ({}, {"step_size_down": 3}, {"mode": "triangular2", "step_size_up": 4},
                    {"mode": "exp_range", "gamma": 0.95}, {"step_size_up": 1, "step_size_down": 2},
                    {"cycle_momentum": False, "step_size_up": 60}):
        o = {**base, **changed}
        words = " ".join(str(int(v) if isinstance(v, bool) else v) for v in o.values())
        o["step_size_down"] = o["step_size_down"] or None
        out.case(f"CyclicLR {words}", lambda: rates(
            lambda optimizer: schedulers.CyclicLR(optimizer, [0.1, 0.02], [0.5, 0.25], **o),
            ("lr", "momentum")))
    out.case("ChainedScheduler two", lambda: rates(lambda o: schedulers.ChainedScheduler(
        [schedulers.ConstantLR(o, 0.1, 4), schedulers.ExponentialLR(o, 0.9)])))
    out.case("ChainedScheduler three", lambda: rates(lambda o: schedulers.ChainedScheduler(
        [schedulers.LinearLR(o, 0.25, 1.0, 5), schedulers.MultiStepLR(o, [6, 9], 0.5),
         schedulers.CosineAnnealingLR(o, 50)])))
    for epochs, strategy in ((10, "cos"), (5, "linear"), (0, "cos"), (60, "linear")):
        out.case(f"SWALR {epochs} {strategy}", lambda: rates(
            lambda o: torch.optim.swa_utils.SWALR(o, [0.05, 0.2], epochs, strategy)))
    out.case("SWALR later", lambda: rates(Later))


class Later:
    """An ExponentialLR for 15 steps, and then SWALR."""

    def __init__(self, optimizer):
        self.first = schedulers.ExponentialLR(optimizer, 0.9)
        self.swa = torch.optim.swa_utils.SWALR(optimizer, 0.05, 8)
        self.steps = 0

    def step(self):
        (self.first if self.steps < 15 else self.swa).step()
        self.steps += 1
