#!/usr/bin/env python3
"""Writes the dtypes that PyTorch (2.4 or later) gives under autocast to the results of the rows of
tests/nn/autocast.def: autocast.txt, a line `NAME DTYPES` for each. The dtypes are those for inputs
of float32 and of bfloat16 on the CPU, and then on CUDA, which tensors without data stand in for;
an `x` stands for what PyTorch refuses, or cannot do without a GPU.
"""
import logging
import pathlib
import re
import warnings
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r'^CAST\((\w+), "([^"]*)",', re.MULTILINE)
SHORT = {torch.float32: "f", torch.bfloat16: "b"}


def flat(result):
    return [x for part in result for x in flat(part)] if isinstance(result, tuple) else [result]


def dtypes_of(expression, device, dtype):
    names = {"F": F, "nn": nn, "m": lambda module: module,
             "t": lambda *size: torch.rand(*size).to(device, dtype),
             "i": lambda n, *size: torch.randint(0, n, size).to(device)}
    torch.set_autocast_dtype(device, torch.bfloat16)
    torch.set_autocast_enabled(device, True)
    try:
        with FakeTensorMode() if device == "cuda" else nullcontext(), torch.device(device):
            return ",".join(SHORT[x.dtype] for x in flat(eval(expression, names)))
    except RuntimeError:
        return "x"
    finally:
        torch.set_autocast_enabled(device, False)
        torch.clear_autocast_cache()


def main():
    logging.disable()  # of what PyTorch refuses
    warnings.simplefilter("ignore")
    lines = []
    for name, expression in ROW.findall((HERE / "../../nn/autocast.def").read_text()):
        dtypes = [dtypes_of(expression, device, dtype) for device in ("cpu", "cuda")
                  for dtype in (torch.float32, torch.bfloat16)]
        lines.append(f"{name} {' '.join(dtypes)}")
    (HERE / "autocast.txt").write_text(
        "\n".join(["# PyTorch's dtypes under autocast, written by autocast.py.", *lines, ""]))


main()
