#!/usr/bin/python3
"""Writes the golden values that the C++ tests hold Gradus to, computed by PyTorch on the CPU (1.13.1;
optim.txt, schedules.txt and eig.txt by 2.15).

    tests/conformance/golden/make.py          # rewrites tensor.txt, autograd.txt, nn.txt and so on
    tests/conformance/golden/make.py optim    # rewrites the named ones

Each file has lines that tests/conformance/golden/golden.h reads:

    let NAME = DTYPE [SIZES] VALUES      an input
    WORDS = DTYPE [SIZES] VALUES         the result of a case; the test understands the words
    WORDS = error                        the case is refused

Complex numbers are written as pairs.
"""
import itertools
import pathlib
import re
import sys

import torch

from eig import eig
from norms import norms
from optimizers import long_trajectories, trajectories
from schedules import schedules

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {"bool": torch.bool, "int64": torch.int64, "float32": torch.float32,
          "float64": torch.float64}
NARROW = {"uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32,
          "float16": torch.float16, "bfloat16": torch.bfloat16}
NAMES = {dtype: name for name, dtype in {**DTYPES, **NARROW}.items()}
INF, NAN = float("inf"), float("nan")

# Rows of elementwise.def that PyTorch knows under another name.
F = torch.nn.functional
OTHER_NAMES = {"step": lambda x: torch.heaviside(x, torch.zeros((), dtype=x.dtype)),
               "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
               "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
               "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "i1": torch.special.i1,
               "log_sigmoid": F.logsigmoid, "mish": F.mish, "relu6": F.relu6, "silu": F.silu,
               "softsign": F.softsign, "tanhshrink": F.tanhshrink, "xlog1py": torch.special.xlog1py}
# PyTorch gives these no derivative.
NO_GRADIENT = ("step", "floor_divide", "heaviside", "nextafter", "igamma", "igammac")
# PyTorch computes the derivative to 9 digits, digamma's, or with a constant of float32.
INEXACT_GRADIENT = ("digamma", "hardsigmoid")


def atan2(x, y):
    """Has gradients of 0 at the origin, as in later versions, and not NaN."""
    origin = (x == 0) & (y == 0)
    return torch.where(origin, torch.atan2(x, y).detach(), torch.atan2(torch.where(origin, torch.ones_like(x), x), y))


# Later versions differentiate these otherwise where a formula divides by 0 or has two sides.
LATER_GRADIENT = {"atan2": atan2, "hardswish": lambda x: x * F.relu6(x + 3) / 6}


def rows(kind):
    """The names in elementwise.def, with PyTorch's function where it has one."""
    text = (HERE / "../../../tensor/table/elementwise.def").read_text()
    for name in re.findall(rf"^(?:{kind})\(\s*(\w+),", text, re.MULTILINE):
        function = OTHER_NAMES.get(name) or getattr(torch, name, None)
        if function:
            yield name, function


def number(value, dtype):
    if dtype in (torch.float16, torch.bfloat16):
        value, dtype = value.float(), torch.float32
    if dtype == torch.float32:
        return repr(value.numpy().item()) if value.isnan() else str(value.numpy())
    return repr(value.item()) if dtype.is_floating_point else str(int(value))


def text(x):
    if x.is_complex():
        x = torch.view_as_real(x.resolve_conj())
    values = [number(v, x.dtype) for v in x.detach().contiguous().view(-1)]
    sizes = ",".join(map(str, x.shape))
    return " ".join([NAMES[x.dtype], f"[{sizes}]", *values])


class Writer:
    def __init__(self, name):
        self.path = HERE / f"{name}.txt"
        self.lines = []

    def let(self, name, x):
        self.lines.append(f"let {name} = {text(x)}")
        return x

    def case(self, words, compute):
        """One line for a tensor; several, told apart by a last word, for a dict of them."""
        try:
            result = compute()
        except (RuntimeError, IndexError) as error:
            if "not implemented for 'Half'" in str(error) or "'BFloat16'" in str(error):
                return  # PyTorch has it on a GPU
            result = None
        for key, value in result.items() if isinstance(result, dict) else [("", result)]:
            line = f"{words} {key}".strip()
            self.lines.append(f"{line} = " + ("error" if value is None else text(value)))

    def close(self):
        self.path.write_text("\n".join(["# PyTorch's values, written by make.py.", *self.lines, ""]))


def elementwise(out):
    special = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.25, 20.0, -20.0, 100.0, -100.0, 1e-30, 1e30,
               -1e30, INF, -INF, NAN]
    xs = {}
    for name in ("float32", "float64"):
        xs[name] = out.let(f"x.{name}", torch.tensor(special, dtype=DTYPES[name]))
    xs["int64"] = out.let("x.int64", torch.tensor([0, 1, -1, 2, -3, 7, 1000000007]))
    xs["bool"] = out.let("x.bool", torch.tensor([True, False]))
    few = out.let("few", torch.tensor([0, 3, 1, 5, 60, 63, 2]))
    for op, f in rows("UNARY"):
        for name, x in xs.items():
            out.case(f"unary {op} x.{name}", lambda: f(x))
    pairs = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -3.0, 2.5, 1e20, INF, -INF, NAN]
    ps = {name: torch.tensor(pairs, dtype=DTYPES[name]) for name in ("float32", "float64")}
    ps["int64"] = torch.tensor([0, 1, -1, 2, -3, 7])
    for name, x in ps.items():
        out.let(f"p.{name}", x)
    for op, f in itertools.chain(rows("BINARY"), rows("COMPARISON|LOGICAL")):
        for name, x in ps.items():
            out.case(f"outer {op} p.{name}", lambda: f(x[:, None], x[None, :]))
    whole = out.let("w.int64", torch.tensor([-1000000007, -7, -3, -1, 1, 2, 12, 70]))
    for op, f in itertools.chain(rows("INTEGER"), rows("BINARY")):
        if "shift" in op:  # by more than all bits, PyTorch's result is the processor's
            out.case(f"binary {op} x.int64 few", lambda: f(xs["int64"], few))
        else:
            out.case(f"outer {op} w.int64", lambda: f(whole[:, None], whole[None, :]))
    for op, f in rows("PREDICATE"):
        for name, x in xs.items():
            out.case(f"unary {op} x.{name}", lambda: f(x))
    for op in ("logical_not", "bitwise_not", "positive"):
        for name, x in xs.items():
            out.case(f"unary {op} x.{name}", lambda: getattr(torch, op)(x))
    for name, x in ps.items():
        for op in ("float_power", "ldexp"):
            out.case(f"outer {op} p.{name}", lambda: getattr(torch, op)(x[:, None], x[None, :]))
    for name, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        g = out.let(f"g.{name}", torch.tensor([0.5, 1.0, 2.25, 10.0, 100.0, -0.25, -1.75, 0.0, NAN],
                                              dtype=dtype))
        for n in range(4):
            if n == 1 and dtype == torch.float64:
                continue  # PyTorch's has 9 digits
            out.case(f"polygamma {n} g.{name}", lambda: torch.polygamma(n, g))


def promotion(out):
    values = {"bool": [True, False], "int64": [3, 2], "float32": [0.5, 3.0],
              "float64": [1.25, 2.0]}
    tensors = {}
    for name, v in values.items():
        tensors[f"v.{name}"] = out.let(f"v.{name}", torch.tensor(v, dtype=DTYPES[name]))
        tensors[f"s.{name}"] = out.let(f"s.{name}", torch.tensor(v[0], dtype=DTYPES[name]))
    numbers = {"true": True, "2": 2, "1.5": 1.5}
    functions = dict(itertools.chain(rows("BINARY"), rows("INTEGER"), rows("COMPARISON|LOGICAL")))
    for op in ("add", "sub", "mul", "div", "pow", "maximum", "xlogy", "eq", "lt", "floor_divide",
               "div_trunc", "remainder", "fmod", "copysign", "fmax", "hypot", "logaddexp2", "xlog1py",
               "nextafter", "bitwise_and", "bitwise_left_shift", "gcd"):
        f = functions[op]
        for a, b in itertools.product(tensors, tensors):
            out.case(f"binary {op} {a} {b}", lambda: f(tensors[a], tensors[b]))
        if op in ("maximum", "fmax", "hypot", "logaddexp2", "nextafter", "gcd"):
            continue  # PyTorch has it for tensors only
        for a, n in itertools.product(tensors, numbers):
            out.case(f"with_number {op} {a} {n}", lambda: f(tensors[a], numbers[n]))
    reversible = {"sub": lambda x, y: x - y, "div": lambda x, y: x / y, "pow": lambda x, y: x ** y,
                  "floor_divide": torch.floor_divide, "remainder": torch.remainder,
                  "bitwise_xor": torch.bitwise_xor}
    for op, reverse in reversible.items():
        for a, n in itertools.product(tensors, numbers):
            out.case(f"number_with {op} {n} {a}", lambda: reverse(numbers[n], tensors[a]))
    for op in ("add", "div", "pow", "remainder", "floor_divide", "bitwise_or"):
        for a, b in itertools.product(tensors, tensors):
            out.case(f"in_place {op} {a} {b}",
                     lambda: getattr(tensors[a].clone(), f"{op}_")(tensors[b]))


def narrow(out):
    """Types of 8, 16 and 32 bits: what they promote to, where they wrap around, how they round."""
    values = {"bool": [True, False, True], "uint8": [200, 100, 3], "int8": [-100, 90, 2],
              "int16": [30000, -30000, 7], "int32": [2000000000, -2000000000, 5],
              "int64": [3, -70000, 2], "float16": [0.1, -3.0, 60000.0],
              "bfloat16": [0.1, -3.0, 1e30], "float32": [0.3, 5.0, -2.0], "float64": [1.25, 2.0, 0.1]}
    all_dtypes = {**DTYPES, **NARROW}
    tensors = {}
    for name, v in values.items():
        tensors[f"n.{name}"] = out.let(f"n.{name}", torch.tensor(v, dtype=all_dtypes[name]))
        tensors[f"z.{name}"] = out.let(f"z.{name}", torch.tensor(v[0], dtype=all_dtypes[name]))

    def rounds_twice(op, a, b):
        """Later versions do not round the second one of these first: programs.txt has such cases."""
        halves = ("n.float16", "n.bfloat16")
        return op in ("mul", "div", "floor_divide") and a in halves and b[0] == "z" and a[2:] != b[2:]

    narrow_ones = {n: t for n, t in tensors.items() if NAMES[t.dtype] in NARROW}
    functions = dict(itertools.chain(rows("UNARY"), rows("BINARY"), rows("INTEGER"),
                                     rows("COMPARISON|LOGICAL"), rows("PREDICATE")))
    for op in ("add", "sub", "mul", "div", "lt", "floor_divide", "remainder", "copysign",
               "bitwise_xor", "lcm"):
        f = functions[op]
        for a, b in itertools.product(tensors, tensors):
            if (a in narrow_ones or b in narrow_ones) and not rounds_twice(op, a, b):
                out.case(f"binary {op} {a} {b}", lambda: f(tensors[a], tensors[b]))
        if op == "lcm":
            continue
        for a, (n, x) in itertools.product(narrow_ones, {"true": True, "2": 2, "1.5": 1.5}.items()):
            out.case(f"with_number {op} {a} {n}", lambda: f(tensors[a], x))
    for op in ("add", "mul", "div"):
        for a, b in itertools.product(tensors, tensors):
            if (a in narrow_ones or b in narrow_ones) and not rounds_twice(op, a, b):
                out.case(f"in_place {op} {a} {b}",
                         lambda: getattr(tensors[a].clone(), f"{op}_")(tensors[b]))
    for op in ("neg", "abs", "exp", "sqrt", "sigmoid", "tanh", "relu", "square", "reciprocal",
               "erfinv", "lgamma", "signbit", "isinf", "isfinite"):
        for a in narrow_ones:
            out.case(f"unary {op} {a}", lambda: functions[op](tensors[a]))
    for op, f in (("sum", torch.sum), ("mean", torch.mean), ("amax", torch.amax),
                  ("amin", torch.amin)):
        for a in narrow_ones:
            out.case(f"reduce {op} {a} all 0", lambda: f(tensors[a], dim=tuple(range(tensors[a].dim()))))
    for (a, x), (b, dtype) in itertools.product(tensors.items(), all_dtypes.items()):
        # A floating point number that an integer type does not hold has no defined value.
        fits = dtype == torch.bool or dtype.is_floating_point or not x.dtype.is_floating_point or (
            bool((x.double().abs() < 100).all()) and (dtype != torch.uint8 or bool((x >= 0).all())))
        if (b in NARROW or NAMES[x.dtype] in NARROW) and fits:
            out.case(f"convert {a} {b}", lambda: x.to(dtype))


def reductions(out):
    torch.manual_seed(1)
    plain = torch.randn(2, 3, 4, dtype=torch.float64)
    ties = torch.randint(-2, 3, (2, 3, 4))
    nan = plain.clone()
    nan[0, 1, 2] = nan[1, 2, 0] = NAN
    infinite = plain.clone()
    infinite[0, 0, 0], infinite[1, 0, 0], infinite[1, 1, 3] = INF, -INF, INF
    inputs = {"plain": plain, "float": plain.float(), "ties": ties.double(), "ints": ties,
              "bools": ties > 0, "nan": nan, "infinite": infinite,
              "empty": torch.zeros(2, 0, 3, dtype=torch.float64), "scalar": plain[0, 0, 0]}
    functions = {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin}
    for name, x in inputs.items():
        out.let(name, x)
        dims = [d for n in range(x.dim() + 1) for d in itertools.combinations(range(x.dim()), n)]
        if name in ("float", "nan", "bools", "infinite"):
            dims = dims[:4]
        for op, f in functions.items():
            for d, keep in itertools.product(dims, (False, True)):
                listed = ",".join(map(str, d)) or "all"
                out.case(f"reduce {op} {name} {listed} {int(keep)}",
                         lambda: f(x, dim=d if d else tuple(range(x.dim())), keepdim=keep))
        for op, f in (("max", torch.max), ("min", torch.min)):
            for d, keep in itertools.product(range(-1, x.dim()), (False, True)):
                out.case(f"extreme {op} {name} {d} {int(keep)}",
                         lambda: dict(zip(("values", "indices"), f(x, d, keepdim=keep))))
        for op, f in (("argmax", torch.argmax), ("argmin", torch.argmin)):
            out.case(f"arg {op} {name} all 0", lambda: f(x))
            for d, keep in itertools.product(range(x.dim()), (False, True)):
                out.case(f"arg {op} {name} {d} {int(keep)}", lambda: f(x, d, keepdim=keep))
        for dtype in DTYPES:
            if dtype == "int64" and name in ("nan", "infinite"):
                continue  # no integer is meant by these
            for op in ("sum", "mean"):
                out.case(f"reduce_as {op} {name} {dtype}",
                         lambda: functions[op](x, dtype=DTYPES[dtype]))
    wide = torch.randn(3, 4, dtype=torch.float64) * 5
    wide[0, 1], wide[1, 2] = 1000.0, -INF
    out.let("wide", wide)
    for op, f in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
        for name, x in [("wide", wide), ("plain", plain), ("float", plain.float()),
                        ("scalar", plain[0, 0, 0])]:
            for d in range(-1, x.dim()):
                out.case(f"{op} {name} {d}", lambda: f(x, d))


def products(out):
    torch.manual_seed(2)
    shapes = [(3,), (4,), (2, 3), (3, 4), (4, 3), (0, 3), (3, 0), (2, 2, 3), (2, 3, 2), (2, 1, 3, 4),
              (5, 4, 2), (1, 3, 4)]
    names = {}
    for shape in shapes:
        name = "m." + "x".join(map(str, shape))
        names[name] = out.let(name, torch.randn(shape, dtype=torch.float64))
    for a, b in itertools.product(names, names):
        out.case(f"matmul {a} {b}", lambda: torch.matmul(names[a], names[b]))
    for dtype in (torch.int64, torch.float32):
        name = NAMES[dtype]
        a = out.let(f"a.{name}", (torch.randn(2, 3) * 4).to(dtype))
        b = out.let(f"b.{name}", (torch.randn(3, 2) * 4).to(dtype))
        out.case(f"matmul a.{name} b.{name}", lambda: a @ b)


def gradients(f, inputs):
    """The result of f, and the gradients by each input of its sum weighted with 1, 2, 3, ..."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    y = f(*leaves)
    weights = torch.arange(1, y.numel() + 1, dtype=y.dtype).view(y.shape)
    grads = torch.autograd.grad((y * weights).sum(), leaves, allow_unused=True)
    return {"y": y, **{f"grad{i}": torch.zeros_like(leaves[i]) if g is None else g
                       for i, g in enumerate(grads)}}


def derivatives(out):
    x = out.let("x", torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0], dtype=torch.float64))
    for op, f in rows("UNARY"):
        f = LATER_GRADIENT.get(op, f)
        if op not in NO_GRADIENT + INEXACT_GRADIENT:
            out.case(f"unary {op} x", lambda: gradients(f, [x]))
    for op, f in rows("BINARY"):
        f = LATER_GRADIENT.get(op, f)
        if op not in NO_GRADIENT:
            out.case(f"outer {op} x", lambda: gradients(lambda p, q: f(p.view(7, 1), q), [x, x]))
    # Where infinities and NaN meet others.
    e = out.let("edges", torch.tensor([-INF, -1.0, 0.0, 2.0, INF, NAN, 0.5], dtype=torch.float64))
    for op, f in rows("BINARY"):
        if op in ("logaddexp", "logaddexp2", "fmax", "fmin", "copysign", "xlogy", "xlog1py"):
            out.case(f"outer {op} edges", lambda: gradients(lambda p, q: f(p.view(7, 1), q), [e, e]))
    for op, f in rows("UNARY"):
        if op in ("selu", "mish", "erfinv", "lgamma", "sinc", "i0", "gelu_tanh", "logit"):
            out.case(f"unary {op} edges", lambda: gradients(f, [e]))
    for name, values in (("distinct", [[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]]),
                         ("tied", [[2.0, 2.0, 1.0], [0.0, 2.0, 0.0]])):
        m = out.let(name, torch.tensor(values, dtype=torch.float64))
        for op in ("sum", "mean", "amax", "amin", "max", "min"):
            f = getattr(torch, op)
            out.case(f"reduce {op} {name} all", lambda: gradients(f, [m]))
            for d in (0, 1):
                g = (lambda t: f(t, d).values) if op in ("max", "min") else (lambda t: f(t, d))
                out.case(f"reduce {op} {name} {d}", lambda: gradients(g, [m]))
    torch.manual_seed(3)
    a = out.let("a", torch.randn(3, 4, dtype=torch.float64))
    b = out.let("b", torch.randn(4, dtype=torch.float64))
    c = out.let("c", torch.randn(4, 2, dtype=torch.float64))
    index = out.let("index", torch.tensor([[0, 2, 2, 1], [1, 0, 2, 2]]))
    # The same expressions stand in tests/autograd/golden_test.cpp.
    composites = {
        "sigmoid_product": (lambda a, b: torch.sigmoid(a * b), [a, b]),
        "layer": (lambda a, c: torch.tanh(a @ c), [a, c]),
        "normalised": (lambda a: (a - a.mean(1, True)) / (a.square().mean(1, True) + 1).sqrt(), [a]),
        "log_sum_exp": (lambda a: a.exp().sum(0).log(), [a]),
        "log_softmax": (lambda a: torch.log_softmax(a, 1), [a]),
        "softmax": (lambda a: torch.softmax(a, 0), [a]),
        "views": (lambda a, b: (a.t()[1:3] * b.expand(3, 4).t()[:2]).reshape(3, 2), [a, b]),
        "gather": (lambda a: torch.gather(a, 0, index) * a[:2], [a]),
        "scatter_add": (lambda a, b: torch.scatter_add(a, 0, index, b.expand(2, 4)), [a, b]),
        "reused": (lambda a: a * a.sum() / (a + 5), [a]),
        "detached": (lambda a: a * a.detach(), [a]),
        "number_minus": (lambda a: 2 - 3 / (a.square() + 1) + 2 ** 0.5 * a, [a]),
    }
    for name, (f, inputs) in composites.items():
        out.case(f"composite {name}", lambda: gradients(f, inputs))
    # Gradients of gradients: d/da sum((dy/da)^2).
    for name, f in (("cube", lambda t: t * t * t), ("tanh", torch.tanh),
                    ("softmax", lambda t: torch.softmax(t, 1).square())):
        def twice():
            leaf = a.clone().requires_grad_()
            g, = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)
            return torch.autograd.grad(g.square().sum(), leaf)[0]
        out.case(f"twice {name}", twice)


def layers(out):
    torch.manual_seed(4)
    weight = out.let("weight", torch.randn(2, 3, dtype=torch.float64))
    bias = out.let("bias", torch.randn(2, dtype=torch.float64))
    for name, shape in (("one", (3,)), ("rows", (4, 3)), ("batch", (2, 2, 3)), ("none", (0, 3))):
        x = out.let(f"x.{name}", torch.randn(shape, dtype=torch.float64))
        linear = torch.nn.functional.linear
        out.case(f"linear x.{name}", lambda: gradients(linear, [x, weight, bias]))
        out.case(f"linear_no_bias x.{name}", lambda: gradients(linear, [x, weight]))
    scores = out.let("scores", torch.randn(4, 3, dtype=torch.float64) * 3)
    targets = out.let("targets", torch.randn(4, 3, dtype=torch.float64))
    classes = out.let("classes", torch.tensor([0, 2, 1, 2]))
    huge = out.let("huge", torch.tensor([[1000.0, -1000.0, 0.0], [-1e30, 1e30, 0.0]],
                                        dtype=torch.float64))
    first = out.let("first", scores[0])
    few = out.let("few", torch.tensor([1, 1]))
    one_class = out.let("one_class", torch.tensor(1))
    for r in ("none", "mean", "sum"):
        mse, ce = torch.nn.functional.mse_loss, torch.nn.functional.cross_entropy
        nll = torch.nn.functional.nll_loss
        out.case(f"mse_loss scores targets {r}",
                 lambda: gradients(lambda x, y: mse(x, y, reduction=r), [scores, targets]))
        out.case(f"cross_entropy scores classes {r}",
                 lambda: gradients(lambda x: ce(x, classes, reduction=r), [scores]))
        out.case(f"cross_entropy huge few {r}",
                 lambda: gradients(lambda x: ce(x, few, reduction=r), [huge]))
        out.case(f"nll_loss scores classes {r}",
                 lambda: gradients(lambda x: nll(x, classes, reduction=r), [scores]))
        out.case(f"cross_entropy first one_class {r}",
                 lambda: gradients(lambda x: ce(x, one_class, reduction=r), [first]))
    losses_with_options(out, scores, classes, one_class)
    modules(out)


def modules(out):
    """`activation NAME ARGUMENTS... INPUT`; `loss FUNCTION INPUT TARGET WEIGHT POS_WEIGHT REDUCTION`"""
    x = out.let("points", torch.tensor([[-4.0, -1.25, -0.3], [0.2, 0.75, 7.0]], dtype=torch.float64))
    wide = out.let("wide", torch.tensor([[-2.0, 0.5, 1.5, 3.0]], dtype=torch.float64))
    nn = torch.nn
    for name in ("ReLU", "ReLU6", "SELU", "ELU", "CELU", "LeakyReLU", "Hardtanh", "Hardshrink", "Softshrink",
                 "Softplus", "GELU", "SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh", "Tanhshrink", "Softsign",
                 "Hardswish"):
        out.case(f"activation {name} points", lambda: gradients(getattr(nn, name)(), [x]))
    # Its own gradient has 8 digits only.
    out.case("activation Hardsigmoid points", lambda: gradients(lambda y: (y / 6 + 0.5).clamp(0, 1), [x]))
    out.case("activation GLU wide", lambda: gradients(nn.GLU(), [wide]))
    for name, arguments in (("Threshold", (0.25, 3.0)), ("Softmax", (1,)), ("LogSoftmax", (0,)), ("Softmin", (1,))):
        words = " ".join(map(str, arguments))
        out.case(f"activation {name} {words} points", lambda: gradients(getattr(nn, name)(*arguments), [x]))
    out.case("activation LeakyReLU 0.42 points", lambda: gradients(nn.LeakyReLU(0.42), [x]))
    out.case("activation GELU tanh points", lambda: gradients(nn.GELU("tanh"), [x]))
    logits = out.let("logits", torch.tensor([[-1000.0, 1000.0, 0.0], [3.0, -2.5, 0.0], [0.5, -0.25, 6.0]],
                                            dtype=torch.float64))
    truth = out.let("truth", torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.25, 1.0, 0.9]],
                                          dtype=torch.float64))
    out.let("no_logits", torch.zeros(0, 3, dtype=torch.float64))
    each = out.let("each", torch.tensor([[1.0, 0.5, 2.0], [0.0, 3.0, 1.0], [1.5, 1.0, 0.25]], dtype=torch.float64))
    row = out.let("row", torch.tensor([0.5, 2.0, 1.25], dtype=torch.float64))
    weights = {"-": None, "each": each, "row": row}
    for r in ("none", "mean", "sum"):
        out.case(f"loss l1_loss logits truth - - {r}",
                 lambda: gradients(lambda x, y: F.l1_loss(x, y, reduction=r), [logits, truth]))
        out.case(f"loss l1_loss logits logits - - {r}",
                 lambda: gradients(lambda x, y: F.l1_loss(x, y, reduction=r), [logits, logits]))
        for w, p in itertools.product(weights, weights):
            kwargs = dict(weight=weights[w], pos_weight=weights[p], reduction=r)
            out.case(f"loss bce_with_logits logits truth {w} {p} {r}", lambda: gradients(
                lambda x: F.binary_cross_entropy_with_logits(x, truth, **kwargs), [logits]))
        for name in ("l1_loss", "binary_cross_entropy_with_logits"):
            nothing = torch.zeros(0, 3, dtype=torch.float64)
            short = name.replace("binary_cross_entropy", "bce")
            out.case(f"loss {short} no_logits no_logits - - {r}",
                     lambda: gradients(lambda x: getattr(F, name)(x, nothing, reduction=r), [nothing]))


def losses_with_options(out, scores, classes, one_class):
    """`with_options LOSS INPUT TARGET WEIGHT IGNORED SMOOTHING REDUCTION`"""
    def randn(name, *shape):
        return out.let(name, torch.randn(*shape, dtype=torch.float64))
    inputs = {"first": scores[0], "scores": scores, "lines": randn("lines", 2, 3, 4),
              "images": randn("images", 2, 3, 2, 2), "volumes": randn("volumes", 2, 3, 1, 2, 2),
              "no_rows": randn("no_rows", 0, 3), "no_lines": randn("no_lines", 2, 3, 0)}
    targets = {"first": ["one_class"], "scores": ["classes"]}
    weight = out.let("weight3", torch.tensor([0.5, 2.0, 1.25], dtype=torch.float64))
    tensors = {"one_class": one_class, "classes": classes, "-": None, "weight3": weight}
    for name, x in inputs.items():
        shape = x.shape[:1] + x.shape[2:]
        if name not in targets:
            tensors[f"{name}_classes"] = torch.randint(3, shape)
            targets[name] = [f"{name}_classes"]
        tensors[f"{name}_shares"] = torch.softmax(torch.randn(x.shape, dtype=torch.float64),
                                                  0 if x.dim() == 1 else 1)
        targets[name].append(f"{name}_shares")
    tensors["ignored"] = torch.tensor([1, 1, 1, 1])
    targets["scores"].append("ignored")
    for name, tensor in tensors.items():
        if name not in ("-", "weight3", "one_class", "classes"):
            out.let(name, tensor)
    for name, x in inputs.items():
        for target, w, ignored, smoothing, r in itertools.product(
                targets[name], ("-", "weight3"), (-100, 1), (0, 0.2), ("none", "mean", "sum")):
            shares = target.endswith("_shares")
            if shares and ignored == 1:
                continue
            kwargs = dict(weight=tensors[w], ignore_index=ignored, reduction=r)
            t, words = tensors[target], f"{name} {target} {w} {ignored} {smoothing} {r}"
            out.case(f"with_options cross_entropy {words}", lambda: gradients(
                lambda x: F.cross_entropy(x, t, label_smoothing=smoothing, **kwargs), [x]))
            if not shares and smoothing == 0:
                out.case(f"with_options nll_loss {words}",
                         lambda: gradients(lambda x: F.nll_loss(x, t, **kwargs), [x]))


def main():
    torch.set_num_threads(1)
    for name, parts in (("tensor", (elementwise, promotion, narrow, reductions, products)),
                        ("autograd", (derivatives,)), ("nn", (layers,)),
                        ("optim", (trajectories, long_trajectories)), ("schedules", (schedules,)),
                        ("norms", (norms,)), ("eig", (eig,))):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        out = Writer(name)
        for part in parts:
            part(out)
        out.close()


if __name__ == "__main__":
    main()
