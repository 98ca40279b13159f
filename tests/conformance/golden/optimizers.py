"""The steps of optimizers that make.py writes to optim.inc."""
import itertools

import torch

NAMES = {torch.float32: "float32", torch.float64: "float64"}


def trajectories(out):
    """Five steps on sum((p - target)^4) from the same start; the parameter after each."""
    start = out.let("start", torch.tensor([1.0, -2.0, 0.25, 3.0], dtype=torch.float64))
    target = out.let("target", torch.tensor([0.5, -1.0, 0.25, 2.5], dtype=torch.float64))
    base = dict(lr=0.05, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=0, maximize=0)
    settings = [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.4}, {"weight_decay": 0.1},
                {"momentum": 0.9, "weight_decay": 0.1}, {"momentum": 0.9, "nesterov": 1},
                {"momentum": 0.7, "nesterov": 1, "weight_decay": 0.2}, {"maximize": 1},
                {"momentum": 0.5, "maximize": 1, "weight_decay": 0.1},
                {"momentum": 0.5, "dampening": 0.5, "maximize": 1, "lr": 0.01},
                {"dampening": 0.5}, {"lr": 0.0}]
    for dtype, changed in itertools.product((torch.float64, torch.float32), settings):
        o = {**base, **changed}

        def run():
            p = start.to(dtype).clone().requires_grad_()
            sgd = torch.optim.SGD([p], lr=o["lr"], momentum=o["momentum"],
                                  dampening=o["dampening"], weight_decay=o["weight_decay"],
                                  nesterov=bool(o["nesterov"]), maximize=bool(o["maximize"]))
            steps = []
            for _ in range(5):
                sgd.zero_grad()
                (p - target.to(dtype)).square().square().sum().backward()
                sgd.step()
                steps.append(p.detach().clone())
            return torch.stack(steps)
        words = " ".join(f"{o[k]}" for k in base)
        out.case(f"sgd {NAMES[dtype]} {words}", run)


def long_trajectories(out):
    """A hundred steps of Adam and AdamW on the same sum; the parameters after each tenth. They are
    the halves of `start`; the second is a group of its own with half the rate and no amsgrad."""
    start = out.let("begin", torch.tensor([1.0, -2.0, 0.25, 3.0, 0.75, 2.0], dtype=torch.float64))
    target = torch.tensor([0.5, -1.0, 0.25, 2.5, 0.25, -1.5], dtype=torch.float64)
    out.let("goal", target)
    base = dict(lr=0.05, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0, amsgrad=0)
    settings = [{}, {"amsgrad": 1}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "amsgrad": 1},
                {"beta1": 0.5, "beta2": 0.7, "eps": 1e-3}, {"beta1": 0.0, "beta2": 0.0},
                {"beta2": 0.6, "amsgrad": 1, "lr": 0.2}, {"lr": 0.0, "weight_decay": 0.5}]
    for name, dtype, changed in itertools.product(("Adam", "AdamW"), (torch.float64, torch.float32),
                                                  settings):
        o = {**base, **changed}

        def run():
            halves = [x.to(dtype).clone().requires_grad_() for x in start.chunk(2)]
            optimizer = getattr(torch.optim, name)(
                [{"params": halves[:1]}, {"params": halves[1:], "lr": o["lr"] / 2, "amsgrad": False}],
                lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["eps"],
                weight_decay=o["weight_decay"], amsgrad=bool(o["amsgrad"]))
            steps = []
            for step in range(1, 101):
                optimizer.zero_grad()
                (torch.cat(halves) - target.to(dtype)).square().square().sum().backward()
                optimizer.step()
                if step % 10 == 0:
                    steps.append(torch.cat(halves).detach())
            return torch.stack(steps)
        words = " ".join(f"{o[k]}" for k in base)
        out.case(f"{name.lower()} {NAMES[dtype]} {words}", run)
