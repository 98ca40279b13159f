#!/usr/bin/env python3
"""Writes programs.txt: random programs over all dtypes, and what PyTorch (2.15, CPU) makes of them.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install numpy torch==2.15.0
    /tmp/torch/bin/python tests/conformance/golden/make_programs.py [--seed N] [--programs N] [--out FILE]

A line is `let NAME = TENSOR`, `FUNCTION ARGUMENTS = TENSOR`, or `... = error` where PyTorch refuses
it, as tests/conformance/golden/golden.h reads them. Arguments are names, numbers (an integer has no point) and `$`, the result of the line
before; lines that `$` joins are a program. A function that ends in _ changes its first argument.

Debian's PyTorch 1.13 will not do: it rounds numbers beside tensors of 16 bits, has few functions of
these, refuses bounds of clamp beyond the integers of a type, and softshrink makes 0 of NaN.
GRADUS_PROGRAMS=FILE test_ops --gtest_filter='Programs.*' runs a longer file.
"""
import argparse
import itertools
import math
import pathlib
import random
import warnings

import torch

HERE = pathlib.Path(__file__).resolve().parent
F = torch.nn.functional
INF, NAN = math.inf, math.nan
# For each dtype: its short name here, tensors of four elements, and tensors without dimensions.
POOL = {
    torch.bool: ("b", [[1, 0, 1, 1]], [1]),
    torch.uint8: ("u8", [[0, 1, 7, 250], [3, 2, 100, 255]], [3, 200]),
    torch.int8: ("i8", [[0, 1, -7, 127], [3, -2, 100, 5]], [-3, 100]),
    torch.int16: ("i16", [[0, -1, 300, 32767], [5, -3, 1000, -30000]], [300, -2]),
    torch.int32: ("i32", [[0, -1, 70000, 7], [5, -3, 100000, 2147483647]], [100000, -2]),
    torch.int64: ("i64", [[0, -1, 3, 10**12], [5, -3, 100000, 2]], [100000, 3]),
    torch.float16: ("f16", [[0.1, -2.5, 60000, 1e-5], [-0.0, 3, INF, NAN], [4.711, -0.3333, 1, 6]],
                    [4.7123, -0.1]),
    torch.bfloat16: ("bf16", [[0.1, -2.5, 3e30, 1e-30], [-0.0, 3, INF, NAN], [4.72, -0.3333, 1, 6]],
                     [4.7123, 1e10]),
    torch.float32: ("f32", [[0.1, -2.5, 1e30, 1e-30], [-0.0, 3, INF, NAN], [4.7123, -0.3, 1, 6]],
                    [4.7123, 1e-8, 100000]),
    torch.float64: ("f64", [[0.1, -2.5, 1e300, 1e-300], [-0.0, 3, INF, NAN], [4.7123, -0.3, 1, 6]],
                    [4.7123, 1e-8, 100000]),
}
INTEGERS = [2, 3, -1, 7, 300, 100000]
REALS = [0.5, 4.7123, -1.3, 1e-8, 1e5, 2.0001, 0.1, 1e39]
SMALL = [0.5, 4.7123, -1.3, 2.0001, 0.1, 2, -1, 3]
NARROW = (torch.float16, torch.bfloat16)
ROWS = 32  # times four elements: whole vectors of every type


def reflected(op):
    """op(number, tensor). Of 1 / x Python makes two roundings, and gradus one."""
    def quotient(x, y):
        return (x / y.float()).to(y.dtype) if y.dtype in NARROW else x / y
    return quotient if op == "div" else {"add": lambda x, y: x + y, "sub": lambda x, y: x - y,
                                         "mul": lambda x, y: x * y}.get(op, getattr(torch, op, None))


def without_fraction(mode):
    """x / y without its fraction. PyTorch rounds a quotient of two tensors of 16 bits before that."""
    def quotient(x, y):
        dtype = torch.result_type(x, y)
        if dtype in NARROW and isinstance(y, torch.Tensor) and y.numel() > 1:
            return torch.div(x.to(dtype).float(), y.to(dtype).float(), rounding_mode=mode).to(dtype)
        return torch.div(x, y, rounding_mode=mode)
    return quotient


def without_fraction_(mode):
    def change(x, y):
        x.clone().div_(y, rounding_mode=mode)  # which refuses what it has to
        return x.copy_(without_fraction(mode)(x, y))
    return change


# Functions of two operands, by the kinds of these: t for a tensor, n for a number.
BINARY = {**{name: ("tt tn nt", getattr(torch, name)) for name in
             ("add", "sub", "mul", "div", "pow", "remainder")},
          "fmod": ("tt tn", torch.fmod),
          "floor_divide": ("tt tn", without_fraction("floor")),
          "div_trunc": ("tt tn", without_fraction("trunc")),
          **{name: ("tt tn", getattr(torch, name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
          **{name: ("tt", getattr(torch, name)) for name in
             ("maximum", "minimum", "fmax", "atan2", "copysign", "xlogy")},
          "where": ("tt tn nt nn", lambda x, y: torch.where(CONDITION, x, y))}
# Functions of a tensor or two and of numbers: the names of the arguments behind the first.
OTHERS = {"add_scaled": ("tn", lambda x, y, a: torch.add(x, y, alpha=a)),
          "sub_scaled": ("tn", lambda x, y, a: torch.sub(x, y, alpha=a)),
          "rsub": ("tn", lambda x, y, a: torch.rsub(x, y, alpha=a)),
          "lerp": ("tn", torch.lerp), "lerp_by": ("tt", torch.lerp),
          "addcmul": ("ttn", lambda x, y, z, v: torch.addcmul(x, y, z, value=v)),
          "addcdiv": ("ttn", lambda x, y, z, v: torch.addcdiv(x, y, z, value=v)),
          "clamp": ("nn", torch.clamp), "clamp_by": ("tt", torch.clamp),
          "clamp_min": ("n", torch.clamp_min), "clamp_max": ("n", torch.clamp_max),
          "leaky_relu": ("n", F.leaky_relu), "elu": ("n", F.elu), "celu": ("n", F.celu),
          "threshold": ("nn", F.threshold), "hardtanh": ("nn", F.hardtanh),
          "hardshrink": ("n", F.hardshrink), "softshrink": ("n", F.softshrink),
          "softplus": ("nn", F.softplus), "nan_to_num": ("nn", torch.nan_to_num)}
METHODS = ("add", "sub", "mul", "div", "pow", "remainder", "fmod", "floor_divide", "div_trunc", "eq",
           "lt", "add_scaled", "lerp", "addcmul", "addcdiv", "clamp", "leaky_relu", "elu", "threshold")

NAMES = {}  # of the tensors of POOL: name -> tensor
CONDITION = None


def repeated(x):
    return x.repeat(ROWS) if x.shape == (4,) else x


def shortest(value):
    """The fewest digits that give the number again."""
    dtype = value.dtype
    if not dtype.is_floating_point:
        return str(int(value))
    if dtype == torch.float64 or not math.isfinite(value.item()):
        return repr(value.item())
    for digits in range(1, 10):
        text = f"{value.item():.{digits}g}"
        if torch.tensor(float(text), dtype=torch.float64).to(dtype) == value:
            break
    return repr(0.0 * math.copysign(1, value.item())) if value == 0 else text


def tensor_text(x):
    dtype = str(x.dtype).removeprefix("torch.")
    x = x[:4] if x.dim() == 1 and x.numel() > 1 else x
    return " ".join([dtype, f"[{','.join(map(str, x.shape))}]", *map(shortest, x.reshape(-1))])


def fill_names(lines):
    global CONDITION
    for dtype, (name, wide, narrow) in POOL.items():
        for letter, values in zip("abc", wide):
            NAMES[name + letter] = torch.tensor(values, dtype=torch.float64).to(dtype)
        for digit, value in zip("012", narrow):
            NAMES[f"{name}.{digit}"] = torch.tensor(value, dtype=torch.float64).to(dtype)
    NAMES["i64.one"] = torch.tensor([100000])
    lines += [f"let {name} = {tensor_text(x)}" for name, x in NAMES.items()]
    CONDITION = repeated(NAMES["ba"])


def value_of(argument, last):
    if argument == "$":
        return last
    return repeated(NAMES[argument]) if isinstance(argument, str) else argument


def run(function, arguments, last):
    """The result of a line, or None where PyTorch refuses it."""
    in_place = function.endswith("_")
    name = function.rstrip("_")
    values = [value_of(a, last) for a in arguments]
    target = values[0]
    operation = BINARY[name][1] if name in BINARY else OTHERS[name][1]
    if not isinstance(target, torch.Tensor) and name != "where":
        operation = reflected(name)
    try:
        if not in_place:
            return operation(*values)
        target = target.clone()
        method = {"floor_divide": without_fraction_("floor"), "div_trunc": without_fraction_("trunc"),
                  "add_scaled": lambda x, y, a: x.add_(y, alpha=a),
                  "addcmul": lambda x, y, z, v: x.addcmul_(y, z, value=v),
                  "addcdiv": lambda x, y, z, v: x.addcdiv_(y, z, value=v),
                  "leaky_relu": F.leaky_relu_, "elu": F.elu_, "threshold": F.threshold_,
                  }.get(name) or getattr(torch.Tensor, name + "_")
        return method(target, *values[1:])
    except (RuntimeError, TypeError, ZeroDivisionError, ValueError):
        return None


def tells_something(x):
    """Whether the numbers are ones that a test can compare, and not all the same."""
    if x.dtype in (torch.int64, torch.int32) and bool((x.abs() >= 2**53).any()):
        return False
    return not x.is_floating_point() or bool(x.isfinite().any())


def is_settled(name, arguments, last, result):
    """Whether there is one right result. PyTorch's vectors lose the rests of large quotients, and
    sums of products may overflow before a term takes that back, or cancel."""
    if name == "pow":  # of -infinity, PyTorch's types of 16 bits have different ones
        x = value_of(arguments[0], last)
        return arguments[1] != 0.5 or not bool((x == -INF).any())
    if name in ("fmod", "remainder"):
        x, y = (torch.as_tensor(value_of(a, last), dtype=torch.float64) for a in arguments)
        return not bool((result.isnan() & x.isfinite() & ~y.isnan() & (y != 0)).any())
    if name in ("addcmul", "addcdiv", "rsub", "add_scaled", "sub_scaled", "lerp", "lerp_by"):
        size = result.double().abs()
        terms = (value_of(a, last).double().abs() for a in arguments[:2])
        return not any(bool((result.isinf() | (size < 0.05 * term)).any()) for term in terms)
    return True


class Programs:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.refused = set()

    def number(self, small=False):
        return self.random.choice(SMALL if small else self.random.choice((INTEGERS, REALS)))

    def tensor(self, dtype=None, dims=None):
        dtype = dtype or self.random.choice(list(POOL))
        name, wide, narrow = POOL[dtype]
        if dims is None:
            dims = self.random.random() < 0.7
        return name + ("abc"[self.random.randrange(len(wide))] if dims
                       else f".{self.random.randrange(len(narrow))}")

    def line(self, left, right, dtype):
        """A function with the two operands in it; others are drawn. dtype is that of the left."""
        kinds = "".join("t" if isinstance(a, str) else "n" for a in (left, right))
        binary = [name for name, (allowed, _) in BINARY.items() if kinds in allowed.split()]
        others = [name for name, (rest, _) in OTHERS.items() if kinds == "t" + rest[0]]
        name = self.random.choice(others if others and self.random.random() < 0.4 else binary)
        arguments = [left, right]
        if name in OTHERS:
            for kind in OTHERS[name][0][1:]:
                arguments.append(self.number(small=True) if kind == "n" else self.tensor(dtype))
        if name == "addcmul" and dtype and not dtype.is_floating_point:
            arguments[3] = int(arguments[3])  # PyTorch drops the fraction beside integers
        if name == "hardtanh":
            arguments[1:] = sorted(arguments[1:])
        if name in METHODS and kinds[0] == "t" and self.random.random() < 0.4:
            name += "_"
        return name, arguments

    def program(self, left, right):
        """Up to four lines, the first of them with the two operands, or None."""
        lines, last = [], None
        for step in range(self.random.choice((1, 1, 2, 2, 3, 4))):
            for _ in range(30):
                if step:
                    other = self.number() if self.random.random() < 0.4 else self.tensor()
                    left, right = ("$", other) if self.random.random() < 0.7 else (other, "$")
                first = last if left == "$" else NAMES.get(left) if isinstance(left, str) else None
                name, arguments = self.line(left, right, None if first is None else first.dtype)
                result = run(name, arguments, last)
                if result is None and not step and self.random.random() < 0.2 and not (
                        1e39 in arguments or name.startswith("addcmul")):  # which gradus takes
                    self.refused.add(f"{name} {' '.join(map(str, arguments))} = error")
                if result is not None and tells_something(result) and is_settled(
                        name.rstrip("_"), arguments, last, result):
                    break
            else:
                break
            # As it is read: a NaN has no sign.
            last = result.where(result == result, NAN) if result.is_floating_point() else result
            lines.append(f"{name} {' '.join(map(str, arguments))} = {tensor_text(result)}")
        return lines or None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--programs", type=int, default=5, help="for each pair of operands")
    options.add_argument("--out", default=HERE / "programs.txt")
    options = options.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = []
    fill_names(lines)
    programs = Programs(options.seed)
    wide, narrow = [(dtype, True) for dtype in POOL], [(dtype, False) for dtype in POOL]
    kinds = [*wide, *narrow, *((numbers, None) for numbers in (INTEGERS, REALS))]

    def draw(kind):
        what, dims = kind
        return programs.random.choice(what) if dims is None else programs.tensor(what, dims)

    for left, right in itertools.product(kinds, kinds):
        if left[1] is None and right[1] is None:
            continue
        halves = left[0] in NARROW or right[0] in NARROW
        numbers = None in (left[1], right[1])
        wanted = options.programs * (2 if halves else 1) * (3 if numbers else 1)
        if not (left[1] or right[1]):
            wanted = 1  # no tensor has dimensions
        for _ in range(wanted):
            for _ in range(30):
                program = programs.program(draw(left), draw(right))
                if program:
                    lines += program
                    break
            else:
                raise SystemExit(f"no program has {left} and {right}")
    lines += sorted(programs.refused)
    for name, x in itertools.product(("mul", "div", "add", "floor_divide"), ("f16a", "bf16a")):
        lines.append(f"{name} {x} i64.one = {tensor_text(run(name, [x, 'i64.one'], None))}")
    pathlib.Path(options.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
