#!/usr/bin/env python3
"""Writes what PyTorch computes for the rows of modules (tests/nn/rows/FAMILY.def).

    tests/conformance/golden/rows.py [FAMILY...]    # rewrites rows/FAMILY.txt beside this file

tests/nn/rows.h explains the rows. A row's numbers depend on its name alone.
"""
import math
import pathlib
import re
import sys
import zlib

import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE / "../../nn/rows"
TEXT = r'"((?:[^"\\]|\\.)*)"((?:\s*"(?:[^"\\]|\\.)*")*)'
ROW = re.compile(rf"^(MODULE|CALL)\(\s*(\w+),\s*{TEXT},\s*{TEXT},(?:\s*{TEXT},)?", re.MULTILINE)
NAMES = {torch.bool: "bool", torch.int64: "int64", torch.float64: "float64"}


class Hardsigmoid(nn.Module):
    """nn.Hardsigmoid, whose gradient has 8 digits only in PyTorch."""

    def forward(self, x):
        return (x / 6 + 0.5).clamp(0, 1)


def text(x):
    x = x.detach()
    values = (repr(v) if isinstance(v, float) else str(int(v)) for v in x.reshape(-1).tolist())
    return " ".join([NAMES[x.dtype], "[" + ",".join(map(str, x.shape)) + "]", *values])


def short(x):
    """With few digits, which keep the files small."""
    return (x * 1000).round() / 1000 if x.is_floating_point() else x


def joined(first, more):
    return first + "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', more or ""))


def flat(result):
    """The tensors of a result, in order; None where one is missing."""
    if result is None or isinstance(result, torch.Tensor):
        return [result]
    return [each for part in result for each in flat(part)]


def lines_of(kind, name, module, inputs, call):
    torch.manual_seed(zlib.crc32(name.encode()))
    m = eval(module)
    # What starts as zero or one would hide mistakes.
    with torch.no_grad():
        for parameter in m.parameters():
            parameter.copy_(short(torch.randn_like(parameter) * 0.5))
    x = eval(inputs, {**globals(), "randn": torch.randn, "rand": torch.rand, "randint": torch.randint})
    x = [short(each) for each in (x if isinstance(x, tuple) else (x,))]
    out = [(f"state.{key}", value.clone()) for key, value in m.state_dict().items()]
    out += [(f"x{i}", each.detach().clone()) for i, each in enumerate(x)]
    x = [each.requires_grad_() if each.is_floating_point() else each for each in x]
    y = flat(eval(call) if call else m(*x))
    out += [(f"y{i}", each) for i, each in enumerate(y) if each is not None]
    out += [(f"after.{key}", value.clone()) for key, value in m.named_buffers() if key in m.state_dict()]
    sums = [(each * (torch.arange(1, each.numel() + 1).view(each.shape) / each.numel())).sum()
            for each in y if each is not None and each.requires_grad]
    if sums:
        sum(sums).backward()
        out.append(("differentiable", torch.tensor(True)))
        named = [(f"x{i}", each) for i, each in enumerate(x)] + list(m.named_parameters())
        out += [(f"grad.{key}", each.grad) for key, each in named if each.grad is not None]
    if any(each.requires_grad for each in m.parameters()) and sums:
        out += trained(module, out, call)
    return [f"let {name}.{key} = {text(value)}" for key, value in out]


def trained(module, values, call):
    """The loss after 100 steps of SGD, and of each parameter the sums with weights 1 and 1, 2, 3, ...
    over their number. The loss is the mean of the squares of all results' distances from 0.5."""
    values = dict(values)
    m = eval(module)
    m.load_state_dict({key.removeprefix("state."): value.clone() for key, value in values.items()
                       if key.startswith("state.")})
    x = [values[f"x{i}"].clone() for i in range(len(values)) if f"x{i}" in values]
    sgd = torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.5)
    for _ in range(100):
        sgd.zero_grad()
        results = [y for y in flat(eval(call) if call else m(*x)) if y is not None and y.requires_grad]
        loss = sum((y - 0.5).square().mean() for y in results)
        loss.backward()
        sgd.step()
    sums = [torch.stack([p.sum(), (p.reshape(-1) * torch.arange(1, p.numel() + 1)).sum() / p.numel()])
            for p in m.parameters()]
    return [("trained", torch.cat([loss.reshape(1), *sums]))]


def write(family):
    rows = ROW.findall((ROWS / f"{family}.def").read_text())
    lines = []
    for kind, name, *texts in rows:
        module, inputs, call = (joined(*texts[i:i + 2]) for i in (0, 2, 4))
        try:
            lines += lines_of(kind, name, module, inputs, call)
        except Exception as error:
            raise SystemExit(f"{family}.def: {name}: {module}: {error}")
    (HERE / "rows" / f"{family}.txt").write_text(
        "\n".join(["# PyTorch's values, written by rows.py.", *lines, ""]))
    print(f"{family}: {len(rows)} rows")


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    for each in sys.argv[1:] or sorted(path.stem for path in ROWS.glob("*.def")):
        write(each)
