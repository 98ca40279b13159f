"""Errors and warnings of C++ as Python's."""

import re
import warnings

import pytest

import gradus

CASES = [
    (gradus.IndexError, IndexError, lambda: gradus.ones(2)[2], "out of bounds|out of range"),
    (gradus.ValueError, ValueError, lambda: gradus.ones(2) + gradus.ones(3), "must match"),
    (gradus.TypeError, TypeError, lambda: gradus.ones(2, dtype=gradus.int64).requires_grad_(), "floating"),
    (gradus.LinAlgError, RuntimeError, lambda: gradus.linalg.inv(gradus.zeros(2, 2)), "singular"),
    (gradus.Error, RuntimeError, lambda: gradus.ones(2).backward(), "grad"),
    (gradus.OutOfMemoryError, RuntimeError, lambda: gradus.empty(1 << 50),
     "^allocate: the system has no 4503599627370496 bytes for a tensor on cpu"),
    (gradus.NotImplementedError, NotImplementedError,
     lambda: setattr(gradus.nn.MultiheadAttention(4, 2), "out_proj", gradus.nn.Linear(4, 4)),
     "^MultiheadAttention: its part out_proj cannot be replaced"),
    (gradus.CompileError, RuntimeError, lambda: gradus.cuda.RawKernel("void (", "f").compile(), "error"),
    (gradus.NanError, RuntimeError, lambda: found(gradus.zeros(3).log), "^NanGuard: log, forward, test_errors.py"),
    (gradus.DistributedError, RuntimeError, lambda: gradus.distributed.spawn_threads(2, one_rank_ends, timeout=0.2), "rank"),
]


def found(function):
    with gradus.watch.NanGuard():
        function()


def one_rank_ends(rank):
    if rank:
        gradus.distributed.barrier()


def test_every_class_of_error_is_raised():
    classes = {value for name, value in vars(gradus._gradus).items()
               if isinstance(value, type) and issubclass(value, gradus.Error)}
    assert {own for own, *_ in CASES} == classes


@pytest.mark.parametrize("own, builtin, call, text", CASES)
def test_each_error_is_of_its_class_and_of_the_builtin(own, builtin, call, text):
    for kind in (own, builtin, RuntimeError, gradus.Error):
        with pytest.raises(kind, match=text):
            call()


@pytest.mark.parametrize("name, call", [
    ("set_", lambda: gradus.ones(2).set_(gradus.ones(2), 1, (4,), (1,))),
    ("set_", lambda: gradus.ones(2).set_(gradus.ones(2), -1, (1,), (1,))),
    ("set_", lambda: gradus.ones(2).set_(gradus.ones(2), 0, (1, 1), (1,))),
    ("as_strided", lambda: gradus.ones(2).as_strided((4,), (1,), 1)),
    ("instance_norm", lambda: gradus.nn.functional.instance_norm(gradus.ones(2, 3))),
    ("instance_norm", lambda: gradus.nn.functional.instance_norm(gradus.ones(2, 3, 1))),
])
def test_an_error_names_the_operation_that_was_called(name, call):
    with pytest.raises(gradus.ValueError, match=f"^{name}: "):
        call()


def test_wrong_arguments_are_type_errors():
    x = gradus.ones(2)
    for call in (lambda: gradus.exp(), lambda: gradus.exp(1), lambda: x.sum("a"), lambda: x.sum(dim=0, dimm=1),
                 lambda: gradus.zeros("a"), lambda: x.view(1.5)):
        with pytest.raises(TypeError):
            call()


def test_warnings_are_pythons():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gradus.nn.functional.kl_div(gradus.zeros(2), gradus.ones(2), reduction="mean")
    with pytest.raises(UserWarning):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            raise UserWarning(str(seen[0].message) if seen else "none")
    assert len(seen) == 1 and "'batchmean'" in str(seen[0].message)


@pytest.mark.parametrize("call", [
    lambda: gradus.rand(2, device="tpu"),
    lambda: gradus.rand(2).to("cuda:x"),
    lambda: gradus.zeros(2, device="cpu:-3"),
    lambda: gradus.tensor([1.0], device="tpu"),
    lambda: gradus.nn.Linear(2, 2, device="tpu"),
    lambda: gradus.device("tpu"),
])
def test_an_argument_that_cannot_be_read_is_an_error_of_its_class(call):
    with pytest.raises(gradus.ValueError, match="is not a device|has no valid index"):
        call()


def test_an_error_that_comes_through_python_is_known_again():
    """vmap calls the function for each sample where C++ says that it cannot be batched."""
    x = gradus.tensor([[1.0, 2.0], [3.0, 4.0]])

    def scaled(row):
        return row * row.sum().item()

    with pytest.warns(UserWarning, match="called once for each of 2 samples"):
        assert gradus.func.vmap(scaled)(x).tolist() == [[3, 6], [21, 28]]
    with pytest.raises(KeyError, match="of Python"):
        gradus.func.vmap(lambda row: {}["of Python"])(x)
