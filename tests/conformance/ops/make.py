#!/usr/bin/python3
"""Asks PyTorch (1.13.1, CPU) for the results of the samples: writes samples/NAME.txt for each
samples/NAME.def (tests/conformance/ops/samples.h says what stands there).

    tests/conformance/ops/make.py [NAME ...]

Lines of a .txt: `NAME | INPUTS | ARGUMENTS | in0 = TENSOR`, and `... | out0 = TENSOR` for each result.
"""
import pathlib
import re
import sys
import zlib

import mpmath
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
from make import OTHER_NAMES, text  # noqa: E402: found by the line above

DTYPES = {"kBool": "bool", "kByte": "uint8", "kChar": "int8", "kShort": "int16", "kInt": "int32",
          "kLong": "int64", "kHalf": "float16", "kBFloat16": "bfloat16", "kFloat": "float32",
          "kDouble": "float64"}
ROW = re.compile(r'^(SAMPLE|SAMPLE_PY|REFUSED|MADE|NOT_MADE|RANDOM)\((\w+), "([^"]*)", (.*)\)$')
FIRST_STRING = re.compile(r'^"((?:[^"\\]|\\.)*)", (.*)$')


def uniform(low, high, *size):
    return torch.rand(*size, dtype=torch.float64) * (high - low) + low


def distinct(*size):
    """Numbers that differ by at least 0.1, in random order: no ties, and far from them."""
    count = torch.Size(size).numel()
    return (torch.randperm(count) * 0.25 - count / 10).double().reshape(size)


# What the inputs may say. Random numbers are float64 unless they say otherwise.
VOCABULARY = {
    "randn": lambda *size: torch.randn(*size, dtype=torch.float64),
    "uniform": uniform, "distinct": distinct,
    "randint": lambda low, high, *size: torch.randint(low, high, size),
    "boolean": lambda *size: torch.rand(*size) > 0.5,
    "arange": torch.arange, "tensor": torch.tensor, "randperm": torch.randperm,
    "zeros": lambda *size: torch.zeros(*size, dtype=torch.float64),
    "ones": lambda *size: torch.ones(*size, dtype=torch.float64),
    "real": lambda values: torch.tensor(values, dtype=torch.float64),
    # Batches of n x n matrices: symmetric ones, and ones far from singular.
    "positive": lambda batch, n: (lambda x: x @ x.mT + torch.eye(n))(torch.randn(batch, n, n).double()),
    "invertible": lambda batch, n: torch.randn(batch, n, n).double() + 4 * torch.eye(n),
    "inf": float("inf"), "nan": float("nan"),
    **{name: getattr(torch, name) for name in DTYPES.values()},
}


def by_mpmath(f, order):
    return lambda x: x.clone().apply_(lambda v: float(f(order, v)))


# What Python calls otherwise than C++ does.
OTHER_NAMES = {**OTHER_NAMES,
               "sigmoid_backward": torch.ops.aten.sigmoid_backward,
               "tanh_backward": torch.ops.aten.tanh_backward,
               "index": lambda self, indices: self[indices], "batch_norm": torch.batch_norm,
               "layer_norm": torch.layer_norm, "group_norm": torch.group_norm,
               "slice": torch.ops.aten.slice,
               "unfold": torch.Tensor.unfold,
               "scatter_reduce": lambda *args: torch.scatter_reduce(
                   *args[:5], include_self=args[5] if args[5:] else True),
               # PyTorch's have 10 digits.
               **{name: by_mpmath(f, n) for n in (0, 1) for name, f in (
                   (f"bessel_j{n}", mpmath.besselj), (f"bessel_y{n}", mpmath.bessely))},
               "frexp_mantissa": lambda x: torch.frexp(x)[0],
               "frexp_exponent": lambda x: torch.frexp(x)[1].to(x.dtype),
               # Of order 1 in every sample; torch.polygamma(1, x) has 9 digits only.
               "digamma_slope": lambda x, n: torch.special.zeta(n.round() + 1, x)}


def function_named(name):
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    if name.startswith("linalg_"):
        return getattr(torch.linalg, name.removeprefix("linalg_"))
    for home in (torch, torch.nn.functional, torch.special):
        if hasattr(home, name):
            return getattr(home, name)
    return lambda self, *args: getattr(self, name)(*args)


def as_python(arguments):
    """C++ arguments as a Python tuple: {1, 2} is (1, 2,), kFloat is torch.float32."""
    out = arguments.replace("TensorList{", "{").replace("IntArrayRef()", "{}").replace("Tensor()", "None")
    out = out.replace("{}", "()").replace("{", "(")
    out = out.replace("}", ",)").replace("true", "True").replace("false", "False")
    out = out.replace("std::nullopt", "None").replace("INFINITY", "inf")
    return re.sub(r"\bk[A-Z]\w*", lambda m: DTYPES[m[0]], out)


def flat(result):
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [result if isinstance(result, torch.Tensor) else torch.tensor(result)]


def answer(line):
    row = ROW.match(line)
    if not row:
        raise SystemExit(f"not understood: {line}")
    kind, name, inputs, rest = row.groups()
    string = None
    if kind != "SAMPLE":
        string, rest = FIRST_STRING.match(rest).groups()
    torch.manual_seed(zlib.crc32(line.encode()))
    specs = [spec.strip().removeprefix("const ") for spec in inputs.split(";") if spec.strip()]
    tensors = [eval(spec, dict(VOCABULARY)) for spec in specs]
    head = f"{name} | {inputs} | {rest}"
    lines = [f"{head} | in{i} = {text(x)}" for i, x in enumerate(tensors)]
    names = {**VOCABULARY, "torch": torch, "F": torch.nn.functional,
             **dict(zip("abcd", (x.clone() for x in tensors)))}
    try:
        if kind in ("SAMPLE_PY", "MADE", "RANDOM"):
            result = eval(string.replace('\\"', '"'), names)
            if kind == "RANDOM":
                result = torch.zeros_like(result)
        else:
            result = function_named(name)(*eval(f"({as_python(rest)},)", names))
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        if kind not in ("REFUSED", "NOT_MADE"):
            raise SystemExit(f"{line}\nPyTorch refuses this: {error}")
        return lines
    if kind in ("REFUSED", "NOT_MADE"):
        raise SystemExit(f"{line}\nPyTorch does not refuse this: {result}")
    return lines + [f"{head} | out{i} = {text(x)}" for i, x in enumerate(flat(result))]


def elementwise_rows():
    """The samples that samples.cpp makes of the table."""
    table = (HERE / "../../../tensor/table/elementwise.def").read_text()
    columns = r'^%s\(\s*(\w+),\s*"[^"]*",\s*\w+,\s*(\w+)' + r",\s*([^,]+)" * 4
    for name, _, low, high, *_ in re.findall(columns % "UNARY", table, re.MULTILINE):
        yield f'SAMPLE({name}, "uniform({low}, {high}, 2, 3)", a)'
    for name, _, *ranges in re.findall(columns % "BINARY", table, re.MULTILINE):
        yield 'SAMPLE({}, "uniform({}, {}, 2, 3); uniform({}, {}, 3)", a, b)'.format(name, *ranges)
    for name, f_x, f_y in re.findall(r"^INTEGER\(\s*(\w+),.*,\s*(-?\d+), (-?\d+), -?\d+, \w+\)", table,
                                      re.MULTILINE):
        yield f'SAMPLE({name}, "tensor([{f_x}, 7, -9]); tensor([[{f_y}], [4]])", a, b)'
    for name in re.findall(r"^(?:COMPARISON|LOGICAL)\(\s*(\w+),", table, re.MULTILINE):
        yield f'SAMPLE({name}, "real([0, 1, 2]); real([0, 2, 1])", a, b)'
    for name in re.findall(r"^PREDICATE\(\s*(\w+),", table, re.MULTILINE):
        yield f'SAMPLE({name}, "real([0, -1, inf, -inf, nan])", a)'


def write(name, rows):
    lines = [line for row in rows for line in answer(row)]
    (HERE / f"samples/{name}.txt").write_text(
        "\n".join(["# PyTorch's answers to the samples, written by make.py.", *lines, ""]))


def main():
    torch.set_num_threads(1)
    if not sys.argv[1:] or "elementwise" in sys.argv[1:]:
        write("elementwise", elementwise_rows())
    for path in sorted(HERE.glob("samples/*.def")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        rows = [line for line in path.read_text().splitlines() if line and line[:2] != "//"]
        write(path.stem, rows)


if __name__ == "__main__":
    main()
