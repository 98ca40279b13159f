"""Messages say things in Python's words: no constant, namespace or literal of C++, and a fix that a program can use."""

import re

import numpy as np
import pytest

import gradus
from gradus import nn, optim
from gradus.nn import functional as F

OF_CPP = re.compile(r"\bk[A-Z]\w*|\w::\w|= (true|false)\b|NoGradGuard|nullopt|Tensor\(\)|linalg_|std::|incompatible function")


def leaf():
    return gradus.ones(2, requires_grad=True)


def twice(loss):
    loss.backward()
    loss.backward()


def changed():
    y = leaf().sigmoid()
    y += 1
    y.sum().backward()


class Wrong(gradus.autograd.Function):
    """Returns a gradient for one of two arguments."""

    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad


def labels(dtype):
    return F.cross_entropy(gradus.ones(4, 3), gradus.ones(4, dtype=dtype))


MISTAKES = [
    (lambda: labels(gradus.int32), "to(gradus.int64)"),
    (lambda: labels(gradus.float32), "to(gradus.int64)"),
    (lambda: nn.Conv2d(1, 1, 3)(gradus.zeros(1, 1, 5, 5, dtype=gradus.uint8)), "to(gradus.float32)"),
    (lambda: nn.BCEWithLogitsLoss()(gradus.ones(4), gradus.ones(4, dtype=gradus.int64)), "to(gradus.float32)"),
    (lambda: nn.Embedding(10, 3)(gradus.ones(1)), "to(gradus.int64)"),
    (lambda: gradus.ones(3, 2).gather(1, gradus.zeros(3, 1, dtype=gradus.int32)), "to(gradus.int64)"),
    (lambda: gradus.ones(3, dtype=gradus.int64, requires_grad=True), "to(gradus.float32)"),
    (lambda: twice((leaf() ** 2).sum()), "retain_graph=True"),
    (lambda: leaf().add_(1), "no_grad()"),
    (changed, "gradus.autograd.set_detect_anomaly(True)"),
    (lambda: gradus.autograd.grad(gradus.ones(1, requires_grad=True).sum(), leaf()), "allow_unused=True to autograd.grad"),
    (lambda: Wrong.apply(leaf(), gradus.ones(2)).sum().backward(), "None where there is none"),
    (lambda: gradus.linalg.inv(gradus.zeros(2, 2)), "linalg.inv_ex"),
    (lambda: F.interpolate(gradus.ones(1, 1, 4), scale_factor=2, mode="bilinear"), "'bilinear'"),
    (lambda: optim.SGD([leaf()], 0.1).load_state_dict({}), "gradus.optim.SGD"),
    (lambda: nn.Linear(2, 2)(np.ones((1, 2), dtype="float32")), "Linear: forward was given (ndarray); expected (Tensor)"),
    (lambda: nn.Linear(2, 2)(np.ones((1, 2), dtype="float32")), "from_numpy"),
    (lambda: nn.Linear(2, 2)([1.0, 2.0]), "tensor()"),
    (lambda: nn.Sequential(nn.LSTM(4, 8), nn.Linear(8, 2))(gradus.ones(5, 2, 4)), "Linear: forward was given (tuple)"),
    (lambda: nn.LSTM(4, 8)(gradus.ones(5, 2, 4), gradus.zeros(1, 2, 8)), "LSTM: forward was given (Tensor, Tensor)"),
    (lambda: nn.Linear(2, 2)(gradus.ones(1, 2), 3), "Linear: forward was given (Tensor, int)"),
    (lambda: nn.Linear(2, 2).load_state_dict(nn.Linear(2, 2)), "of type Linear; expected a dictionary"),
    (lambda: nn.Linear(2, 2).load_state_dict({"model": nn.Linear(2, 2).state_dict(), "epoch": 1}), "state_dict['model']"),
    (lambda: optim.lr_scheduler.ExponentialLR(optim.SGD([leaf()], 0.1), 0.9).load_state_dict({"last_epoch": "a"}),
     "last_epoch is of type str"),
    (lambda: optim.Adam([]), "empty parameter list"),
    (lambda: optim.Adam(iter(())), "empty parameter list"),
    (lambda: optim.Adam(nn.Linear(2, 2)), "pass its parameters()"),
]


@pytest.mark.parametrize("call, fix", MISTAKES)
def test_a_mistake_is_named_in_pythons_words(call, fix):
    with pytest.raises((gradus.Error, TypeError, ValueError)) as error:
        call()
    text = str(error.value)
    assert fix in text and not OF_CPP.search(text), text


def test_a_programs_own_names_stay():
    class kMeans(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(gradus.ones(1))

    with pytest.raises(gradus.ValueError, match="do not fit kMeans"):
        kMeans().load_state_dict({})
    with pytest.raises(gradus.Error, match="nullopt_file.pt: cannot be opened"):
        gradus.load("a_nullopt_file.pt")
    with pytest.raises(gradus.CompileError, match="kFloat"):  # lines of a compiler are about code of C++
        gradus.cuda.RawKernel("void f() { kFloat = 1; }", "f").compile()
