"""Tensors beside what is not a tensor: texts, numbers and arrays of NumPy, sequences, types of tensors."""

import collections
import operator

import numpy as np
import pytest

import gradus
from gradus import nn

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
             operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
SCALARS = [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.complex64,
           np.complex128]


def test_a_tensor_without_dimensions_is_formatted_as_its_number():
    for number in (2.5, 3, True, 1 + 2j):
        x = gradus.tensor(number)
        assert f"{x}" == f"{x.item()}" and "{}".format(x) == f"{x.item()}" and f"{x!r}" == repr(x) == str(x)
    assert f"{gradus.tensor(1.234, requires_grad=True):.1f}" == "1.2" and f"{gradus.tensor(3):>3}" == "  3"
    x = gradus.ones(2)
    assert f"{x}" == str(x)
    assert f"{nn.Parameter(gradus.tensor(1.0))}".startswith("Parameter containing")
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{x:.2f}"


def test_reversed_has_the_first_place_last():
    assert reversed(gradus.tensor([[1, 2], [3, 4]])).tolist() == [[3, 4], [1, 2]]
    assert reversed(gradus.tensor(1)).item() == 1


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (1,)])
def test_an_array_is_an_operand_on_either_side(op, shape):
    x = gradus.tensor([1.0, 2.0, 3.0])
    array = np.full(shape, 2.0)
    tensor = gradus.from_numpy(array)
    for out, expected in ((op(x, array), op(x, tensor)), (op(array, x), op(tensor, x))):
        assert isinstance(out, gradus.Tensor) and out.dtype == expected.dtype and gradus.equal(out, expected)


def test_an_array_is_an_operand_of_products_and_in_place():
    a, x = np.arange(4.0).reshape(2, 2), gradus.eye(2, dtype=gradus.float64)
    assert gradus.equal(x @ a, gradus.from_numpy(a))
    y = x
    y += a
    assert y is x and x.tolist() == [[1, 1], [2, 4]]
    with pytest.raises(TypeError):
        x @ 2
    with pytest.raises(TypeError):
        x + [1, 2]
    assert (x == "a") is False and (x == None) is False  # noqa: E711


def test_functions_of_numpy_give_tensors():
    x = gradus.tensor([0.0, 1.0])
    for out, expected in ((np.exp(x), x.exp()), (np.maximum(x, 0.5), x.clamp(0.5)), (np.add(x, x), x + x),
                          (np.sqrt(gradus.tensor(4.0)), gradus.tensor(2.0))):
        assert isinstance(out, gradus.Tensor) and gradus.allclose(out, expected)
    assert type(np.array(x)) is np.ndarray


@pytest.mark.parametrize("kind", SCALARS)
def test_a_scalar_of_numpy_keeps_its_dtype(kind):
    array = np.array([1], kind)
    for made in (gradus.tensor(array[0]), gradus.as_tensor(array[0]), gradus.tensor(np.array(array[0]))):
        assert made.dtype == gradus.from_numpy(array).dtype and made.shape == () and made == 1
    assert gradus.tensor(array[0], dtype=gradus.complex128).dtype == gradus.complex128


def test_a_scalar_of_numpy_is_a_number_of_its_kind():
    assert (gradus.ones(2) * np.complex64(2j)).tolist() == [2j, 2j]
    assert (gradus.tensor([1, 2]) * np.bool_(True)).dtype == gradus.int64
    assert (gradus.ones(2) * np.array(2.0)).tolist() == [2, 2]
    x = gradus.zeros(2)
    x[0] = np.float16(1.5)
    assert x.tolist() == [1.5, 0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_numbers_that_a_dtype_does_not_hold_are_errors(dtype):
    limits, dtype = gradus.iinfo(getattr(gradus, dtype)), getattr(gradus, dtype)
    least = -limits.max if dtype == gradus.uint8 else limits.min
    assert gradus.tensor([limits.max, limits.min], dtype=dtype).tolist() == [limits.max, limits.min]
    gradus.tensor(least, dtype=dtype)
    for wrong in (limits.max + 1, least - 1, 2.0 ** 64, float("nan"), float("inf")):
        for data in (wrong, [0, wrong]):
            with pytest.raises(ValueError, match="without overflow|beyond int64"):
                gradus.tensor(data, dtype=dtype)
    assert gradus.tensor([1.7, -1.7], dtype=gradus.int8).tolist() == [1, -1]


def test_large_integers_are_rounded_where_the_dtype_is_floating_point():
    assert gradus.tensor(2 ** 70, dtype=gradus.float64).item() == 2.0 ** 70
    assert gradus.tensor([1, 2 ** 70], dtype=gradus.float64).tolist() == [1, 2.0 ** 70]
    for data in (2 ** 63, [2 ** 63]):
        with pytest.raises(ValueError, match="beyond int64"):
            gradus.tensor(data)


@pytest.mark.parametrize("kind", [list, tuple, collections.deque, lambda x: range(x[0], x[-1] + 1)])
def test_sequences_of_any_kind_may_be_nested(kind):
    assert gradus.tensor(kind([1, 2])).tolist() == [1, 2]
    assert gradus.tensor([kind([1, 2]), kind([3, 4])]).tolist() == [[1, 2], [3, 4]]
    assert gradus.tensor(collections.deque([kind([1, 2])])).tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="length"):
        gradus.tensor([kind([1, 2]), kind([3, 4, 5])])
    for wrong in ("ab", ["ab"], [[None]], {1: 2}):
        with pytest.raises(TypeError):
            gradus.tensor(wrong)


@pytest.mark.parametrize("name", ["Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"])
def test_kinds_of_tensors_are_types(name):
    kind = getattr(gradus, name + "Tensor")
    x = kind([1, 0])
    assert isinstance(x, kind) and not isinstance(1, kind) and isinstance(kind, type)
    assert [each for each in vars(gradus).values() if isinstance(each, type(kind)) and isinstance(x, each)] == [kind]
    assert x.type() == f"gradus.{name}Tensor"
    other = gradus.ones(2, dtype=gradus.float64 if name == "Float" else gradus.float32)
    for target in (kind, x.type(), f"torch.{name}Tensor", x.dtype):
        assert other.type(target).dtype == x.dtype
    assert kind(2, 3).shape == kind(gradus.Size([2, 3])).shape == (2, 3)
    with pytest.raises(ValueError, match="no class of tensors"):
        x.type(f"gradus.{name}")


def test_types_of_python_are_the_widest_dtypes():
    for kind, dtype in ((float, gradus.float64), (int, gradus.int64), (bool, gradus.bool), (complex, gradus.complex128)):
        assert gradus.zeros(2, dtype=kind).dtype == gradus.ones(2).to(kind).dtype == dtype


def test_lists_of_numpys_numbers_keep_their_dtype():
    np = pytest.importorskip("numpy")
    assert gradus.tensor(list(np.random.rand(3))).dtype == gradus.float64
    assert gradus.tensor([[np.int32(1)], [np.int32(2)]]).dtype == gradus.int32
    assert gradus.tensor([np.float16(1)]).dtype == gradus.float16
    assert gradus.tensor([np.float64(1)], dtype=gradus.float32).dtype == gradus.float32
    assert gradus.tensor([1.0, 2.0]).dtype == gradus.float32


def test_lists_of_tensors_with_one_element_are_numbers():
    assert gradus.tensor([gradus.tensor([1.0]), gradus.tensor(2.0)]).tolist() == [1, 2]


def test_lists_of_elements_are_nested_as_the_tensor():
    for x in (gradus.arange(6).view(2, 3), gradus.ones(2, 0), gradus.tensor([[True], [False]]), gradus.tensor([1.5], dtype=gradus.half),
              gradus.arange(6).view(2, 3).t(), gradus.tensor([1 + 2j]), gradus.tensor(3), gradus.tensor([200], dtype=gradus.uint8)):
        assert gradus.tensor(x.tolist(), dtype=x.dtype).reshape(x.shape).equal(x)
    assert [type(x.tolist()[0]) for x in (gradus.ones(1), gradus.ones(1, dtype=gradus.int8), gradus.ones(1, dtype=gradus.bool))] == [float, int, bool]


def test_a_gradient_has_the_shape_and_the_dtype_of_its_tensor():
    x = gradus.ones(2, requires_grad=True)
    for wrong, text in ((gradus.ones(3), r"of shape \[3\] to a tensor of shape \[2\]"), (gradus.ones(2, dtype=gradus.float64), "float64 to a tensor of")):
        with pytest.raises(RuntimeError, match=text):
            x.grad = wrong
    x.grad = gradus.ones(2)
    assert x.grad.sum().item() == 2
    x.grad = None
    assert x.grad is None


def test_empty_indices_and_lists_of_indices():
    x = gradus.arange(12).view(3, 4)
    assert x[[]].shape == (0, 4) and x[:, []].shape == (3, 0) and x[()].equal(x)
    x[[]] = 5
    number = gradus.tensor(5)
    number[()] = 3
    assert number.item() == 3 and x.sum().item() == 66
    assert x[[gradus.tensor([0, 1]), gradus.tensor([2, 3])]].tolist() == [2, 7]
    assert x[[slice(0, 1), 0]].tolist() == [0] and x[[gradus.tensor(1), gradus.tensor(2)]].equal(x[[1, 2]])


def test_differences_take_what_stands_before_and_behind_by_name():
    x = gradus.tensor([1, 4, 9])
    zero = gradus.zeros(1, dtype=gradus.int64)
    assert gradus.diff(x, prepend=zero).tolist() == x.diff(prepend=zero).tolist() == [1, 3, 5]
    assert x.diff(append=zero).tolist() == [3, 5, -9] and gradus.diff(x, 2).tolist() == [2]
