"""Tensors in Python: identity, operators, protocols, indexing."""

import copy
import gc
import math
import weakref

import pytest

import gradus


def test_one_tensor_is_one_object():
    x = gradus.zeros(3, requires_grad=True)
    x.sum().backward()
    assert x.grad is x.grad
    assert x.detach() is not x
    assert x.add_(0) is x if not x.requires_grad else True
    y = gradus.ones(2)
    assert y.add_(1) is y
    again = y
    y += 1
    assert y is again


def test_objects_go_with_their_last_reference():
    x = gradus.zeros(3)
    seen = weakref.ref(x)
    del x
    assert seen() is None


def test_operators_of_tensors_and_numbers():
    a, b = gradus.tensor([1.0, 2.0]), gradus.tensor([3.0, 5.0])
    assert (a + b).tolist() == [4, 7]
    assert (2 - a).tolist() == [1, 0]
    assert (a * 2).tolist() == [2, 4]
    assert (1 / a).tolist() == [1, 0.5]
    assert (b // 2).tolist() == [1, 2]
    assert (b % 2).tolist() == [1, 1]
    assert (a ** 2).tolist() == [1, 4]
    assert (2 ** a).tolist() == [2, 4]
    assert (-a).tolist() == [-1, -2]
    assert abs(-a).tolist() == [1, 2]
    assert (a @ b).item() == 13
    assert (a < b).tolist() == [True, True]
    assert (a == 1).tolist() == [True, False]
    assert (~(a == 1)).tolist() == [False, True]


def test_foreign_operands_are_refused():
    class Other:
        def __radd__(self, other):
            return "radd"

    x = gradus.ones(2)
    assert x + Other() == "radd"
    for f in (lambda: x + "a", lambda: x @ 2, lambda: None + x, lambda: x < "a"):
        with pytest.raises(TypeError):
            f()


def test_protocols():
    x = gradus.arange(6).view(2, 3)
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    assert bool(gradus.tensor(1)) and not bool(gradus.tensor(0.0))
    assert int(gradus.tensor(2.5)) == 2 and float(gradus.tensor(2)) == 2.0
    assert [10, 20, 30][gradus.tensor(1)] == 20
    assert hash(x) == hash(x) and len({x, x}) == 1
    assert 4 in x and 9 not in x
    for f in (lambda: len(gradus.tensor(1)), lambda: iter(gradus.tensor(1)), lambda: bool(x)):
        with pytest.raises((TypeError, ValueError)):
            f()


def test_indexing_and_assignment():
    x = gradus.arange(12).view(3, 4)
    assert x[0].tolist() == [0, 1, 2, 3]
    assert x[-1, -1].item() == 11
    assert x[1:, ::2].tolist() == [[4, 6], [8, 10]]
    assert x[..., None].shape == (3, 4, 1)
    assert x[x > 9].tolist() == [10, 11]
    assert x[[0, 2]].tolist() == [[0, 1, 2, 3], [8, 9, 10, 11]]
    assert x[gradus.tensor([2, 0]), 1].tolist() == [9, 1]
    x[0] = 7
    x[1, 1:3] = gradus.tensor([20, 30])
    x[2] = [1, 2, 3, 4]
    assert x.tolist() == [[7, 7, 7, 7], [4, 20, 30, 7], [1, 2, 3, 4]]
    x[x == 7] = 0
    assert x[0].tolist() == [0, 0, 0, 0]
    with pytest.raises(IndexError):
        x[3]
    with pytest.raises(IndexError):
        x[0, 0, 0]
    with pytest.raises(TypeError):
        x["a"]


def test_rows_have_names_defaults_and_forms():
    x = gradus.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum().item() == 10
    assert x.sum(1).tolist() == [3, 7]
    assert gradus.sum(x, dim=0, keepdim=True).tolist() == [[4, 6]]
    assert x.sum((0, 1)).item() == 10
    values, indices = x.max(1)
    assert values.tolist() == [2, 4] and indices.tolist() == [1, 1]
    assert x.max(dim=0).values.tolist() == [3, 4]
    assert x.view(4).shape == (4,) and x.view(1, 4).shape == (1, 4) and x.view((4, 1)).shape == (4, 1)
    assert x.permute(1, 0).tolist() == [[1, 3], [2, 4]]
    assert gradus.cat([x, x], dim=1).shape == (2, 4)
    out = gradus.empty(2, 2)
    assert gradus.exp(x, out=out) is out
    assert out[0, 0].item() == pytest.approx(math.e)
    assert gradus.add(1, x).tolist() == [[2, 3], [4, 5]]
    assert gradus.zeros(2, 3, dtype=gradus.int64).dtype is gradus.int64
    assert gradus.zeros((2, 3)).shape == (2, 3)
    assert "sum over dimensions" in gradus.sum.__doc__


def test_a_linear_model_is_trained():
    gradus.manual_seed(1)
    x = gradus.rand(64, 1)
    y = 2 * x + 1
    model = gradus.nn.Linear(1, 1)
    mse = gradus.nn.MSELoss()
    sgd = gradus.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(300):
        sgd.zero_grad()
        mse(model(x), y).backward()
        sgd.step()
    assert abs(model.weight.item() - 2) < 1e-3 and abs(model.bias.item() - 1) < 1e-3


def test_the_package_says_what_it_is():
    assert gradus.show_config().startswith(f"Gradus {gradus.__version__}, ")


def test_pin_memory():
    assert not gradus.ones(2).is_pinned()
    loader = gradus.utils.data.DataLoader(gradus.utils.data.TensorDataset(gradus.ones(4)), pin_memory=True)
    if gradus.cuda.is_available():
        pinned = gradus.ones(2).pin_memory()
        assert gradus.equal(pinned, gradus.ones(2)) and pinned.is_pinned()
        batches = list(loader)
    else:
        with pytest.raises(gradus.Error, match="pin_memory"):
            gradus.ones(2).pin_memory()
        with pytest.warns(UserWarning, match="there is no GPU; the batches are not pinned"):
            batches = list(loader)
    assert [batch[0].item() for batch in batches] == [1, 1, 1, 1]
    assert all(batch[0].is_pinned() == gradus.cuda.is_available() for batch in batches)


def test_the_shape_is_changed_in_place():
    x = gradus.arange(6.0).view(2, 1, 3)
    assert x.squeeze_(1) is x and x.shape == (2, 3)
    assert x.unsqueeze_(0).transpose_(1, 2).shape == (1, 3, 2)
    assert x.squeeze_().t_().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.swapaxes_(0, 1).as_strided_((2, 2), (3, 1), 1).tolist() == [[1, 2], [4, 5]]
    assert gradus.ones(1, 3, 1).squeeze_((0, 2)).shape == (3,)
    assert gradus.ones(6).resize_(2, 2).resize_((1, 3)).resize_as_(gradus.ones(2)).shape == (2,)
    assert gradus.empty(0).set_(x).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match="resize_: expected whole numbers"):
        x.resize_("a")


def test_forms_that_differ_from_functions():
    x = gradus.tensor([[1.0, -2.0], [3.0, -4.0]])
    assert x.where(x > 0, 0).tolist() == [[1, 0], [3, 0]]
    assert x.where(x > 0, -x).equal(x.abs())
    assert x.clone().fill_diagonal_(9).tolist() == [[9, -2], [3, 9]]
    assert x[0]._base is x and x._base is None
    assert x.is_cpu and not x.is_sparse and x.ndimension() == 2
    assert gradus.ones(3).bernoulli(0.0).sum() == 0 and gradus.ones(3).bernoulli().sum() == 3
    assert sorted(gradus.ones(3).multinomial(3).tolist()) == [0, 1, 2]
    assert [str(f().dtype) for f in (x.byte, x.char, x.cfloat, x.cdouble)] == \
        ["gradus.uint8", "gradus.int8", "gradus.complex64", "gradus.complex128"]
    found, counts = gradus.tensor([1, 1, 2, 1]).unique_consecutive(return_counts=True)
    assert found.tolist() == [1, 2, 1] and counts.tolist() == [2, 1, 1]
    assert x.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
