"""MiniTorch's names over gradus, so that MiniTorch's own tests run; scripts/minitorch loads it as a plugin of pytest.

Importing it puts the modules minitorch and minitorch.operators in place. minitorch.testing is that of the checkout, whose
folder the variable MINITORCH names. All numbers are float64: the tests compare with differences over 1e-6.
"""

import functools
import importlib.util
import itertools
import operator
import os
import random
import sys
import types

import gradus
from gradus import nn
from gradus.nn import functional as F

gradus.set_default_dtype(gradus.float64)

# --- Module 0: operators on numbers, modules of parameters
number = lambda row: lambda *numbers: float(row(*map(gradus.tensor, map(float, numbers))))
listed = lambda numbers: gradus.tensor([float(x) for x in numbers])

def derivative(row):
    def of(at, d):
        x = gradus.tensor(float(at), requires_grad=True)
        row(x).backward(gradus.tensor(float(d)))
        return float(x.grad)
    return of

ROWS = {"mul": gradus.mul, "add": gradus.add, "neg": gradus.neg, "lt": gradus.lt, "eq": gradus.eq, "max": gradus.maximum,
        "sigmoid": gradus.sigmoid, "relu": gradus.relu, "log": gradus.log, "exp": gradus.exp, "inv": gradus.reciprocal}
operators = types.ModuleType("minitorch.operators")
vars(operators).update({name: number(row) for name, row in ROWS.items()})
vars(operators).update({f"{name}_back": derivative(ROWS[name]) for name in ("log", "inv", "relu")})
operators.id = lambda x: x
operators.is_close = lambda x, y: abs(float(x) - float(y)) < 1e-2
operators.sum = lambda numbers: float(listed(numbers).sum())
operators.prod = prod = lambda numbers: float(listed(numbers).prod())
operators.negList = lambda numbers: (-listed(numbers)).tolist()
operators.addLists = lambda a, b: (listed(a) + listed(b)).tolist()

class Parameter:
    """A value of any kind under a name of a module."""
    def __init__(self, x, name=None):
        self.name = name
        self.update(x)
    def update(self, x):
        self.value = x
        if hasattr(x, "requires_grad_"):
            x.requires_grad_(True)
    __repr__ = lambda self: repr(self.value)

class Module(nn.Module):
    """A module of gradus whose parameters are MiniTorch's."""
    def add_parameter(self, name, value):
        setattr(self, name, Parameter(value, name))
        return getattr(self, name)
    def named_parameters(self):
        out = [(name, p) for name, p in vars(self).items() if isinstance(p, Parameter)]
        for name, child in self.named_children():
            out += [(f"{name}.{below}", p) for below, p in child.named_parameters()]
        return out
    parameters = lambda self: [p for _, p in self.named_parameters()]

# --- What numbers and tensors share
class Variable:
    def __init__(self, tensor, name=None):
        self.tensor, self.name = tensor, name or str(id(self))
    of = lambda self, other: other.tensor if isinstance(other, Variable) else other
    requires_grad_ = lambda self, on: self.tensor.requires_grad_(on)
    __bool__ = lambda self: bool(self.tensor)
    __repr__ = lambda self: repr(self.tensor)

def method(name, row):
    setattr(Variable, name, lambda self, *others: self.new(row(self.tensor, *map(self.of, others)).double()))

for each in ("add", "sub", "mul", "truediv", "neg", "lt", "gt", "eq", "matmul"):
    method(f"__{each}__", getattr(operator, each))
for each in ("add", "mul", "truediv"):
    method(f"__r{each}__", lambda x, y, row=getattr(operator, each): row(y, x))
for each in ("log", "exp", "sigmoid", "relu"):
    method(each, ROWS[each])

def check(found, difference, what):
    found = 0.0 if found is None else found  # what the result does not depend on
    assert abs(found - difference) <= 1e-2 + 1e-2 * abs(difference), f"{what}: derivative {found}, differences {difference}"

# --- Module 1: numbers with a derivative
class Context:
    def save_for_backward(self, *values):
        self.saved_values = values

class ScalarHistory:
    def __init__(self, last_fn=None, ctx=None, inputs=()):
        self.last_fn, self.ctx, self.inputs = last_fn, ctx, inputs
    def derivatives(self, d):
        out = self.last_fn.backward(self.ctx, d)
        return out if isinstance(out, tuple) else (out,)

class Call(gradus.autograd.Function):
    """A ScalarFunction as a Function of gradus."""
    @staticmethod
    def forward(ctx, history, *inputs):
        ctx.history = history
        return gradus.tensor(float(history.last_fn.forward(history.ctx, *map(float, inputs))))
    @staticmethod
    def backward(ctx, grad):
        return (None, *(gradus.tensor(float(d)) for d in ctx.history.derivatives(float(grad))))

class ScalarFunction:
    @classmethod
    def apply(cls, *values):
        history = ScalarHistory(cls, Context(), [v if isinstance(v, Scalar) else Scalar(v) for v in values])
        return Scalar(Call.apply(history, *(x.tensor for x in history.inputs)), history)

class Scalar(Variable):
    def __init__(self, v, back=None, name=None):
        super().__init__(v if isinstance(v, gradus.Tensor) else gradus.tensor(float(v), requires_grad=True), name)
        self.history = back
    new = staticmethod(lambda tensor: Scalar(tensor))
    data = property(lambda self: float(self.tensor))
    derivative = property(lambda self: None if self.tensor.grad is None else float(self.tensor.grad))
    chain_rule = lambda self, d_output: zip(self.history.inputs, self.history.derivatives(d_output))
    def backward(self, d_output=1.0):
        if self.tensor.requires_grad:
            self.tensor.backward(gradus.tensor(float(d_output)))

def central_difference(f, *vals, arg=0, epsilon=1e-6):
    above, below = (f(*vals[:arg], vals[arg] + d, *vals[arg + 1:]) for d in (epsilon, -epsilon))
    return (above - below) / (2 * epsilon)

def derivative_check(f, *scalars):
    f(*scalars).backward()
    for i, x in enumerate(scalars):
        check(x.derivative, central_difference(f, *scalars, arg=i).data, f"argument {i} of {scalars}")

# --- Modules 2 and 3: tensors by storage, shape and strides
IndexingError = type("IndexingError", (RuntimeError,), {})

def shape_broadcast(a, b):
    try:
        return (gradus.empty(a, device="meta") + gradus.empty(b, device="meta")).shape
    except gradus.ValueError as error:
        raise IndexingError(str(error)) from None

class TensorData:
    def __init__(self, storage, shape, strides=None):
        flat = storage if isinstance(storage, gradus.Tensor) else listed(storage)
        self.view = flat.view(shape) if strides is None else flat.as_strided(shape, strides)

    shape, strides = property(lambda self: self.view.shape), property(lambda self: self.view.stride())
    size, dims = property(lambda self: self.view.numel()), property(lambda self: self.view.dim())
    _storage = property(lambda self: self.view.detach().cpu().reshape(-1).numpy())
    is_contiguous = lambda self: self.view.is_contiguous()
    indices = lambda self: itertools.product(*map(range, self.shape))
    sample = lambda self: tuple(map(random.randrange, self.shape))
    permute = lambda self, *order: TensorData(self.view, self.view.permute(order).shape, self.view.permute(order).stride())
    to_string = lambda self: repr(self.view)
    def index(self, index):
        if len(index) != self.dims or not all(0 <= i < size for i, size in zip(index, self.shape)):
            raise IndexingError(f"{index} is no index of a tensor of shape {self.shape}")
        return sum(map(operator.mul, index, self.strides))

# What computes is named by where it does so.
SimpleOps, FastOps, CudaOps = "cpu", "cpu", "cuda"
TensorBackend = make_tensor_backend = lambda ops, is_cuda=False: ops
SimpleBackend = TensorBackend(SimpleOps)

class Tensor(Variable):
    """A sum over a dimension keeps it, and one over all has shape (1)."""
    def __init__(self, v, back=None, name=None, backend=SimpleBackend):
        super().__init__((v.view if isinstance(v, TensorData) else v).to(backend), name)
        self.backend = backend
    _tensor = property(lambda self: TensorData(self.tensor, self.tensor.shape, self.tensor.stride()))
    shape, dims = property(lambda self: self.tensor.shape), property(lambda self: self.tensor.dim())
    size = property(lambda self: self.tensor.numel())
    grad = property(lambda self: None if self.tensor.grad is None else self.new(self.tensor.grad))
    new = lambda self, tensor: Tensor(tensor, backend=self.backend)
    item = lambda self: float(self.tensor)
    to_numpy = lambda self: self.tensor.detach().cpu().numpy()
    permute = lambda self, *order: self.new(self.tensor.permute(order))
    view = lambda self, *shape: self.new(self.tensor.view(shape))
    contiguous = lambda self: self.new(self.tensor.contiguous())
    is_close = lambda self, other: self.new(((self.tensor - other.tensor).abs() < 1e-2).double())
    all = lambda self, dim=None: self.reduced("prod", dim)
    sum = lambda self, dim=None: self.reduced("sum", dim)
    mean = lambda self, dim=None: self.reduced("mean", dim)

    backward = lambda self, grad_output=None: self.tensor.backward(self.of(grad_output))
    def reduced(self, name, dim):
        row = getattr(self.tensor, name)
        return self.new(row().view(1) if dim is None else row(dim, keepdim=True))
    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        self._tensor.index(key)
        return float(self.tensor[key])

def made(factory, shape, backend=SimpleBackend, requires_grad=False):
    options = {"dtype": gradus.float64, "device": backend, "requires_grad": requires_grad}
    return Tensor(factory(shape, **options), backend=backend)

tensor, rand, zeros = (functools.partial(made, factory) for factory in (gradus.tensor, gradus.rand, gradus.zeros))

def grad_check(f, *vals):
    leaves = [x.new(x.tensor.detach().clone().requires_grad_()) for x in vals]
    out = f(*leaves).sum()
    if out.tensor.requires_grad:  # a comparison has no derivative
        out.backward()
    for i, x in enumerate(leaves):
        ind = x._tensor.sample()
        step = zeros(x.shape, x.backend)
        step.tensor[ind] = 1e-6
        difference = central_difference(lambda *v: f(*v).sum(), *leaves, arg=i, epsilon=step)[ind]
        check(None if x.grad is None else x.grad[ind], difference, f"{f}, argument {i} at {ind}")

# --- Modules 3 and 4: practice kernels, convolutions, pools, softmax
sum_practice = lambda a: TensorData(F.pad(a.tensor, (0, -a.size % 32)).view(-1, 32).sum(1), (-(-a.size // 32),))
mm_practice = lambda a, b: (a @ b)._tensor

def convolution(function, dims):
    def apply(input, weight):  # an output is as large as its input: zeros follow
        pad = [n for size in reversed(weight.shape[-dims:]) for n in (0, size - 1)]
        return input.new(function(F.pad(input.tensor, pad), weight.tensor))
    return types.SimpleNamespace(apply=apply)

Conv1dFun, Conv2dFun = convolution(gradus.conv1d, 1), convolution(gradus.conv2d, 2)
avgpool2d = lambda input, kernel: input.new(F.avg_pool2d(input.tensor, kernel))
maxpool2d = lambda input, kernel: input.new(F.max_pool2d(input.tensor, kernel))
max = lambda input, dim: input.new(input.tensor.amax(dim, keepdim=True))
softmax = lambda input, dim: input.new(gradus.softmax(input.tensor, dim))
logsoftmax = lambda input, dim: input.new(gradus.log_softmax(input.tensor, dim))
dropout = lambda input, rate, ignore=False: input.new(F.dropout(input.tensor, rate, training=not ignore))

# --- The modules that the tests import
minitorch = types.ModuleType("minitorch")
vars(minitorch).update({name: value for name, value in globals().items() if not name.startswith("__")})
minitorch.UserIndex = minitorch.UserShape = tuple
sys.modules.update({"minitorch": minitorch, "minitorch.operators": operators})
spec = importlib.util.spec_from_file_location("minitorch.testing", os.environ["MINITORCH"] + "/minitorch/testing.py")
testing = minitorch.testing = sys.modules["minitorch.testing"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(testing)
minitorch.MathTest, minitorch.MathTestVariable = testing.MathTest, testing.MathTestVariable
try:  # the tests ask it for a GPU, and for nothing else
    importlib.import_module("numba.cuda")  # numba has no name cuda before
except ImportError:
    sys.modules["numba"] = types.SimpleNamespace(cuda=gradus.cuda)
