"""The steps of optimizers that make.py writes to optim.txt."""
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
        out.case(f"sgd {NAMES[dtype]} {words(o)}", run)


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
        out.case(f"{name.lower()} {NAMES[dtype]} {words(o)}", run)
    elementwise_trajectories(out, start, target)
    lbfgs_trajectories(out, start)
    muon_trajectories(out)


def words(options):
    return " ".join(str(int(v) if isinstance(v, bool) else v) for v in options.values())


def descend(optimizer, loss, parameters, steps=100):
    """The parameters after each tenth of the steps, as one vector each."""
    kept = []

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value
    for step in range(1, steps + 1):
        optimizer.step(closure)
        if step % (steps // 10) == 0:
            kept.append(torch.cat([p.detach().flatten() for p in parameters]))
    return torch.stack(kept)


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., 2023; PyTorch has no Lion."""

    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = (m * beta1 + p.grad * (1 - beta1)).sign()
                p.sub_(group["lr"] * (update + group["weight_decay"] * p))
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def elementwise_trajectories(out, start, goal):
    """As long_trajectories; the second half has half the rate."""
    tables = {
        "sgd100": (torch.optim.SGD,
                   dict(lr=0.01, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False),
                   [{}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.4}, {"weight_decay": 0.1},
                    {"dampening": 0.5}, {"momentum": 0.9, "nesterov": True},
                    {"momentum": 0.7, "nesterov": True, "weight_decay": 0.2},
                    {"momentum": 0.5, "dampening": 0.5, "weight_decay": 0.1, "lr": 0.02}]),
        "adagrad": (torch.optim.Adagrad,
                    dict(lr=0.1, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10),
                    [{}, {"lr_decay": 0.1}, {"weight_decay": 0.2}, {"initial_accumulator_value": 0.5},
                     {"eps": 0.1, "lr": 1.0, "lr_decay": 0.5, "weight_decay": 0.1,
                      "initial_accumulator_value": 0.01}, {"lr": 0.0}]),
        "rmsprop": (torch.optim.RMSprop,
                    dict(lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False),
                    [{}, {"centered": True}, {"momentum": 0.9}, {"momentum": 0.9, "centered": True},
                     {"weight_decay": 0.1, "alpha": 0.5}, {"eps": 0.1, "alpha": 0.0},
                     {"lr": 0.02, "alpha": 0.9, "eps": 0.1, "weight_decay": 0.1, "momentum": 0.5,
                      "centered": True}]),
        "lion": (Lion, dict(lr=0.01, betas0=0.9, betas1=0.99, weight_decay=0.0),
                 [{}, {"weight_decay": 0.5}, {"betas0": 0.5, "betas1": 0.7}, {"betas0": 0.0}]),
        **adaptive_tables()}
    torch.set_default_dtype(torch.float64)  # in which NAdam keeps its product of momenta
    for name, (kind, base, settings) in tables.items():
        for dtype, changed in itertools.product((torch.float64, torch.float32), settings):
            o = {**base, **changed}

            def run():
                given = dict(o)
                if "betas0" in given:
                    given["betas"] = (given.pop("betas0"), given.pop("betas1"))
                halves = [x.to(dtype).clone().requires_grad_() for x in start.chunk(2)]
                optimizer = kind([{"params": halves[:1]}, {"params": halves[1:], "lr": o["lr"] / 2}],
                                 **given)
                return descend(optimizer, lambda: (torch.cat(halves) - goal.to(dtype)).square()
                               .square().sum(), halves)
            out.case(f"{name} {NAMES[dtype]} {words(o)}", run)
    torch.set_default_dtype(torch.float32)


def adaptive_tables():
    base = dict(lr=0.05, betas0=0.9, betas1=0.999, eps=1e-8, weight_decay=0.0, maximize=False)
    plain = [{}, {"weight_decay": 0.1, "eps": 1e-3}, {"betas0": 0.5, "betas1": 0.7, "eps": 1e-3},
             {"maximize": True, "weight_decay": 0.1, "betas0": 0.6, "lr": 0.002}]
    decoupled = [*plain, {"decoupled_weight_decay": True, "weight_decay": 0.2},
                 {"decoupled_weight_decay": True, "weight_decay": 0.2, "maximize": True, "lr": 0.002}]
    return {
        "maxadam": (torch.optim.Adam, {**base, "maximize": True}, [{}, {"weight_decay": 0.1}]),
        "maxadamw": (torch.optim.AdamW, {**base, "maximize": True}, [{}, {"weight_decay": 0.1}]),
        "adamax": (torch.optim.Adamax, base, plain),
        "nadam": (torch.optim.NAdam, {**base, "decoupled_weight_decay": False, "momentum_decay": 4e-3},
                  [*decoupled, {"momentum_decay": 0.0}, {"momentum_decay": 2.0, "betas0": 0.99}]),
        "radam": (torch.optim.RAdam, {**base, "decoupled_weight_decay": False}, decoupled),
        "adadelta": (torch.optim.Adadelta, dict(lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, maximize=False),
                     [{}, {"weight_decay": 0.1}, {"rho": 0.5, "eps": 1e-2, "lr": 0.3}, {"rho": 0.0, "eps": 1e-3},
                      {"maximize": True, "weight_decay": 0.2, "lr": 0.1}])}


def lbfgs_trajectories(out, start):
    """On Rosenbrock's function of six numbers in two parameters."""
    base = dict(lr=1.0, max_iter=20, max_eval=25, tolerance_grad=1e-7, tolerance_change=1e-9,
                history_size=100, line_search_fn=None)
    wolfe = {"line_search_fn": "strong_wolfe"}
    settings = [{"lr": 0.001, "max_iter": 4}, {"lr": 0.01, "max_iter": 2, "history_size": 3},
                {"lr": 0.001, "tolerance_grad": 5.0}, {"lr": 0.01, "tolerance_change": 0.01},
                {"lr": 0.001, "max_eval": 3}, wolfe, {**wolfe, "max_iter": 1},
                {**wolfe, "max_iter": 2, "history_size": 2}, {**wolfe, "max_iter": 3, "lr": 0.1},
                {**wolfe, "max_iter": 3, "lr": 30.0}, {**wolfe, "max_iter": 5, "max_eval": 4},
                {**wolfe, "tolerance_grad": 1.0}, {**wolfe, "max_iter": 4, "tolerance_change": 0.1}]
    for changed in settings:
        o = {**base, **changed}

        def run():
            halves = [x.clone().requires_grad_() for x in start.chunk(2)]

            def loss():
                x = torch.cat(halves)
                return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
            return descend(torch.optim.LBFGS(halves, **o), loss, halves, steps=10)
        out.case(f"lbfgs {words(o)}", run)


def muon_trajectories(out):
    """Two matrices of different shapes, to goals of the same; the second has half the rate."""
    torch.manual_seed(0)
    first = out.let("first", torch.randn(3, 5, dtype=torch.float64))
    second = out.let("second", torch.randn(4, 2, dtype=torch.float64))
    base = dict(lr=0.02, weight_decay=0.1, momentum=0.95, nesterov=True, a=3.4445, b=-4.775, c=2.0315,
                eps=1e-7, ns_steps=5, adjust_lr_fn=None)
    settings = [{"ns_steps": 0}, {"ns_steps": 0, "nesterov": False, "momentum": 0.5}, {},
                {"nesterov": False}, {"weight_decay": 0.0, "momentum": 0.5},
                {"a": 1.5, "b": -0.5, "c": 0.0, "ns_steps": 12, "momentum": 0.0},
                {"adjust_lr_fn": "match_rms_adamw"}, {"adjust_lr_fn": "spectral_unclamped"},
                {"adjust_lr_fn": "original", "eps": 0.1}]
    for changed in settings:
        o = {**base, **changed}

        def run():
            given = dict(o)
            given["ns_coefficients"] = given.pop("a"), given.pop("b"), given.pop("c")
            matrices = [x.clone().requires_grad_() for x in (first, second)]
            optimizer = torch.optim.Muon([{"params": matrices[:1]},
                                          {"params": matrices[1:], "lr": o["lr"] / 2}], **given)
            return descend(optimizer, lambda: sum((m - 0.5).square().sum() for m in matrices), matrices)
        out.case(f"muon {words(o)}", run)
