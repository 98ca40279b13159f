#!/usr/bin/env python3
"""Asks PyTorch (2.4 or later, CPU) for the dtypes that autocast gives the samples: autocast.txt.

    tests/conformance/ops/autocast.py

A line for each sample that autocast changes: `NAME | INPUTS | ARGUMENTS | DTYPES`, where the
dtypes are those of the results for inputs of float32, of bfloat16, and where there are several for
the first one of float32 and the others of bfloat16, and for the converse; on the CPU, and then on
CUDA, which tensors without data stand in for. An `x` stands for what PyTorch refuses.
"""
import importlib.util
import logging
import pathlib
from contextlib import nullcontext

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

HERE = pathlib.Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("samples_make", HERE / "make.py")
make = importlib.util.module_from_spec(SPEC)  # golden/ has a make.py, too
SPEC.loader.exec_module(make)
make.OTHER_NAMES["linalg_vecdot"] = lambda x, y, dim=-1: torch.linalg.vecdot(x, y, dim=dim)
for order in "01":
    for kind in "jy":
        make.OTHER_NAMES[f"bessel_{kind}{order}"] = getattr(torch.special, f"bessel_{kind}{order}")

SHORT = {torch.float32: "f", torch.bfloat16: "b", torch.float64: "d", torch.float16: "h"}


# The dtype of the first input and that of the others.
MIXTURES = ((torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16),
            (torch.float32, torch.bfloat16), (torch.bfloat16, torch.float32))


def dtypes_of(call, tensors, mixture, device, autocast):
    inputs = [x.to(device, mixture[i > 0] if x.dtype == torch.float64 else x.dtype)
              for i, x in enumerate(tensors)]
    torch.set_autocast_dtype(device, torch.bfloat16)
    torch.set_autocast_enabled(device, autocast)
    try:
        return ",".join(SHORT.get(x.dtype, "i") for x in make.flat(call(inputs)))
    except Exception:  # whatever PyTorch refuses
        return "x"
    finally:
        torch.set_autocast_enabled(device, False)
        torch.clear_autocast_cache()


def line_of(line):
    """The sample's line in autocast.txt; nothing where autocast changes nothing."""
    row = make.ROW.match(line)
    kind, name, inputs, rest = row.groups()
    if kind not in ("SAMPLE", "SAMPLE_PY"):
        return None
    string = None
    if kind == "SAMPLE_PY":
        string, rest = make.FIRST_STRING.match(rest).groups()
        if f"{name.removeprefix('linalg_')}(" not in string:
            string = None  # it is made of other functions: for PyTorch 1.13, which lacks this one
    specs = [spec.strip().removeprefix("const ") for spec in inputs.split(";") if spec.strip()]
    tensors = [eval(spec, dict(make.VOCABULARY)) for spec in specs]

    def call(own):
        names = {**make.VOCABULARY, "torch": torch, "F": torch.nn.functional,
                 **dict(zip("abcd", own))}
        if string is not None:
            return eval(string.replace('\\"', '"'), names)
        return make.function_named(name)(*eval(f"({make.as_python(rest)},)", names))

    with_it, without = [], []
    for device in ("cpu", "cuda"):
        with FakeTensorMode(allow_non_fake_inputs=True) if device == "cuda" else nullcontext():
            for mixture in MIXTURES[:4 if len(tensors) > 1 else 2]:
                with_it.append(dtypes_of(call, tensors, mixture, device, True))
                without.append(dtypes_of(call, tensors, mixture, device, False))
    if with_it == without or not any(set(x) & set("fb") for x in with_it):
        return None
    return f"{name} | {inputs} | {rest} | {' '.join(with_it)}"


def main():
    logging.disable()  # of what PyTorch refuses
    lines = []
    rows = list(make.elementwise_rows())
    for path in sorted(HERE.glob("samples/*.def")):
        rows += [line for line in path.read_text().splitlines() if line and line[:2] != "//"]
    for row in rows:
        line = line_of(row)
        if line:
            lines.append(line)
    (HERE / "samples/autocast.txt").write_text("\n".join(
        ["# The dtypes that PyTorch's autocast gives to samples, written by autocast.py.", *lines, ""]))


main()
