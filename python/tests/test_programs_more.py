"""What programs of PyTorch do with data, checkpoints, mixed precision, functions of functions and comparisons."""

import io
import itertools

import pytest

import gradus
from gradus import nn
from gradus.autograd import Function
from gradus.utils.checkpoint import checkpoint
from gradus.utils.data import ChainDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, Sampler


def saved_and_loaded(value):
    file = io.BytesIO()
    gradus.save(value, file)
    file.seek(0)
    return gradus.load(file)


# --- Data

class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


def test_iterable_datasets_are_chained():
    assert isinstance(Count(2) + Count(3), ChainDataset) and list(Count(2) + Count(3)) == [0, 1, 0, 1, 2]
    with pytest.raises(TypeError, match="ChainDataset"):
        ConcatDataset([Count(2)])


def test_a_place_of_concatenated_datasets():
    data = ConcatDataset([[0, 1], [], [2]])
    assert [data[i] for i in range(-3, 3)] == [0, 1, 2, 0, 1, 2] and data.cumulative_sizes == [2, 2, 3]
    for place in (3, -4):
        with pytest.raises(IndexError, match=f"{place}; expected -3 to 2"):
            data[place]
    with pytest.raises(ValueError, match="empty"):
        ConcatDataset([])


def test_a_sampler_says_what_it_yields():
    class Backwards(Sampler[int]):
        def __iter__(self):
            return iter([2, 0])

        def __len__(self):
            return 2

    assert [batch.tolist() for batch in DataLoader(range(3), sampler=Backwards())] == [[2], [0]]


class Letters(Dataset):
    def __getitem__(self, index):
        return "abc"[index]


def test_workers_take_what_they_need_of_an_endless_sampler():
    batches = iter(DataLoader(Letters(), batch_sampler=itertools.cycle([[0, 1], [2]]), num_workers=2))
    assert [next(batches) for _ in range(5)] == [["a", "b"], ["c"], ["a", "b"], ["c"], ["a", "b"]]
    batches.close()


def test_the_order_is_the_same_with_workers():
    orders = []
    for workers in (0, 2):
        gradus.manual_seed(3)
        orders.append([batch.tolist() for batch in DataLoader(range(20), 3, shuffle=True, num_workers=workers)])
    assert orders[0] == orders[1]


# --- Checkpoints

def test_what_requires_gradients_is_loaded_so():
    weight = nn.Parameter(gradus.ones(2))
    x = gradus.zeros(2, requires_grad=True)
    frozen = nn.Parameter(gradus.ones(1), requires_grad=False)
    read = saved_and_loaded({"weight": weight, "x": x, "product": x * 2, "frozen": frozen, "values": weight.detach()})
    assert type(read["weight"]) is nn.Parameter and read["weight"].requires_grad and read["weight"].tolist() == [1, 1]
    assert type(read["frozen"]) is nn.Parameter and not read["frozen"].requires_grad
    assert read["x"].requires_grad and read["x"].is_leaf and read["product"].requires_grad and read["product"].is_leaf
    assert not read["values"].requires_grad
    assert not any(x.requires_grad for x in saved_and_loaded(nn.Linear(2, 2).state_dict()).values())


def test_bytes_and_complex_numbers_are_saved():
    assert saved_and_loaded({"hash": b"\0ab", "z": [1 + 2j, complex("inf")]}) == {"hash": b"\0ab", "z": [1 + 2j, complex("inf")]}


@pytest.mark.parametrize("function", [lambda x: (x * x, x), lambda x: {"y": x * x, "x": x}, lambda x: [x * x, (x, 3)]])
def test_a_recomputed_function_may_return_its_argument(function):
    x = gradus.tensor([1.0, 2.0], requires_grad=True)
    out = checkpoint(function, x, use_reentrant=False)
    (out["y"] if isinstance(out, dict) else out[0]).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_gradients_of_a_recomputed_function_by_call():
    layer, x = nn.Linear(2, 1), gradus.ones(1, 2, requires_grad=True)
    other = gradus.ones(1, requires_grad=True)
    out = checkpoint(lambda x, scale: (layer(x) * other * scale) ** 2, x, scale=3.0)
    expected = gradus.autograd.grad((layer(x) * other * 3) ** 2, [x, other, *layer.parameters()])
    for found, known in zip(gradus.autograd.grad(out, [x, other, *layer.parameters()], retain_graph=True), expected):
        assert gradus.allclose(found, known)
    assert layer.weight.grad is None and x.grad is None
    assert gradus.allclose(gradus.autograd.grad(out, x)[0], expected[0])


def test_second_derivatives_of_a_recomputed_function():
    x = gradus.tensor([1.0, 2.0], requires_grad=True)
    first, = gradus.autograd.grad(checkpoint(lambda x: x ** 3, x).sum(), x, create_graph=True)
    first.sum().backward()
    assert first.tolist() == [3, 12] and x.grad.tolist() == [6, 12]
    x = gradus.tensor(2.0, requires_grad=True)
    checkpoint(lambda x: checkpoint(lambda x: x * x, x) * x, x).backward()
    assert x.grad.item() == 12


def test_what_a_recomputed_function_must_not_do():
    x = gradus.ones(2)
    y = checkpoint(lambda x: x * gradus.ones(2, requires_grad=True) * 2, x)
    x.add_(1)
    with pytest.raises(gradus.Error, match="changed in place"):
        y.sum().backward()
    runs = []

    def other(x):
        runs.append(x)
        return x.exp() if len(runs) == 1 else x.exp().exp()

    with pytest.raises(gradus.Error, match="the same each time"):
        checkpoint(other, gradus.ones(2, requires_grad=True)).sum().backward()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(
    not gradus.cuda.is_available(), reason="there is no GPU"))])
def test_a_recomputed_function_draws_the_same_numbers(device):
    gradus.manual_seed(1)
    drawn = []
    for _ in range(2):
        x = gradus.ones(40, device=device, requires_grad=True)
        y = checkpoint(lambda x: nn.functional.dropout(x, 0.5), x)
        z = checkpoint(lambda x: nn.functional.dropout(x, 0.2), y)  # which the backward pass computes first
        z.sum().backward()
        assert gradus.allclose(x.grad, z)
        drawn += [tuple(y.tolist()), tuple(gradus.rand(40, device=device).tolist())]
    assert len(set(drawn)) == 4 and gradus.initial_seed() == 1


def test_a_recomputed_function_computes_in_the_types_of_autocast():
    types = []

    def run(x):
        y = x @ x
        types.append(y.dtype)
        return y

    x = gradus.ones(2, 2, requires_grad=True)
    with gradus.autocast("cpu"):
        y = checkpoint(run, x, use_reentrant=False)
    y.float().sum().backward()
    assert types == [gradus.bfloat16] * 2 and not gradus.is_autocast_enabled("cpu")


@pytest.mark.parametrize("make", [lambda lr, optimizer: lr.StepLR(optimizer, 2, 0.1, last_epoch=3),
                                  lambda lr, optimizer: lr.MultiStepLR(optimizer, [1, 4], 0.1, last_epoch=3)])
def test_a_schedule_that_goes_on_at_a_change(make):
    def rates(torch):
        parameter = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([{"params": [parameter], "initial_lr": 1.0}], 0.5)
        schedule, found = make(torch.optim.lr_scheduler, optimizer), []
        for _ in range(4):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return found

    assert rates(gradus) == pytest.approx(rates(pytest.importorskip("torch")))


# --- Modes

def test_inference_mode_decorates_without_parentheses():
    @gradus.inference_mode
    def double(x):
        """Twice x."""
        return x * 2

    assert double.__doc__ == "Twice x." and double(gradus.ones(1, requires_grad=True)).is_inference()
    with gradus.inference_mode(False):
        assert not gradus.is_inference_mode_enabled()


def test_a_scaler_scales_lists_and_says_its_factors():
    scaler = gradus.amp.GradScaler("cpu", init_scale=2.0, growth_factor=3.0, growth_interval=7)
    a, (b,) = scaler.scale([gradus.ones(1), (gradus.ones(2),)])
    assert a.tolist() == [2] and b.tolist() == [2, 2]
    factors = scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()
    assert factors == (3, 0.5, 7) and type(factors[2]) is int
    scaler.load_state_dict({**scaler.state_dict(), "growth_factor": 4.0})
    assert scaler.get_growth_factor() == 4
    assert gradus.amp.GradScaler("cpu", enabled=False, growth_factor=5.0).get_growth_factor() == 5


def test_a_scaler_that_has_scaled_nothing_does_not_step():
    scaler, optimizer = gradus.amp.GradScaler("cpu"), gradus.optim.SGD([gradus.ones(1, requires_grad=True)], 0.1)
    for call in (lambda: scaler.step(optimizer), lambda: scaler.unscale_(optimizer), scaler.update):
        with pytest.raises(gradus.Error, match="scale"):
            call()
    gradus.amp.GradScaler("cpu", enabled=False).step(optimizer)


def test_a_function_chooses_the_types_of_autocast():
    seen = []

    class Square(Function):
        @staticmethod
        @gradus.amp.custom_fwd(device_type="cpu", cast_inputs=gradus.float32)
        def forward(ctx, x):
            seen.append((x.dtype, gradus.is_autocast_enabled("cpu")))
            return x @ x

        @staticmethod
        @gradus.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append((grad.dtype, gradus.is_autocast_enabled("cpu")))
            return grad

    class Product(Function):
        @staticmethod
        @gradus.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            return x @ x

        @staticmethod
        @gradus.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            product = grad @ gradus.ones(2, 2)
            seen.append((product.dtype, gradus.is_autocast_enabled("cpu")))
            return product

    x = gradus.ones(2, 2, dtype=gradus.bfloat16, requires_grad=True)
    with gradus.autocast("cpu"):
        y, z = Square.apply(x), Product.apply(gradus.ones(2, 2, requires_grad=True))
    y.sum().backward()
    z.float().sum().backward()
    assert y.dtype is gradus.float32 and z.dtype is gradus.bfloat16 and x.grad.dtype is gradus.bfloat16
    assert seen == [(gradus.float32, False), (gradus.float32, False), (gradus.bfloat16, True)]
    assert Square.apply(x).dtype is gradus.bfloat16 and seen.pop() == (gradus.bfloat16, False)
    assert callable(gradus.cuda.amp.custom_fwd(lambda ctx, x: x)) and callable(gradus.cuda.amp.custom_bwd(lambda ctx, x: x))


# --- Functions

class Scaled(Function):
    @staticmethod
    def forward(x, factor=2, *, unused=None):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


class ScaledInOne(Function):
    @staticmethod
    def forward(ctx, x, factor=2):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


@pytest.mark.parametrize("function", [Scaled, ScaledInOne])
def test_arguments_of_a_function_by_name(function):
    for call, factor in ((lambda x: function.apply(x), 2), (lambda x: function.apply(x, 3), 3),
                         (lambda x: function.apply(x, factor=4), 4), (lambda x: function.apply(factor=5, x=x), 5)):
        x = gradus.ones(2, requires_grad=True)
        call(x).sum().backward()
        assert x.grad.tolist() == [factor] * 2
    with pytest.raises(TypeError):
        function.apply(gradus.ones(1), other=1)


def test_arguments_of_vmap_by_name_are_the_same_for_all():
    x, k = gradus.ones(2, 2), gradus.tensor([3.0, 4.0])
    assert gradus.vmap(lambda x, *, k: x * k)(x, k=k).tolist() == [[3, 4], [3, 4]]
    assert gradus.vmap(lambda x, k: x * k["k"], in_dims=(0, {"k": 0}))(x, {"k": k}).tolist() == [[3, 3], [4, 4]]


@pytest.mark.parametrize("run", [
    lambda f, x: gradus.func.grad(f, has_aux=True)(x)[1], lambda f, x: gradus.func.grad_and_value(f, has_aux=True)(x)[1][1],
    lambda f, x: gradus.func.jacrev(f, has_aux=True)(x)[1], lambda f, x: gradus.func.jacfwd(f, has_aux=True)(x)[1],
    lambda f, x: gradus.func.vjp(f, x, has_aux=True)[2], lambda f, x: gradus.func.jvp(f, (x,), (x,), has_aux=True)[2]])
def test_what_comes_beside_a_derivative_has_no_graph(run):
    aux = run(lambda x: ((x ** 2).sum(), {"prediction": x * 2, "name": "n"}), gradus.ones(2))
    assert aux["prediction"].tolist() == [2, 2] and not aux["prediction"].requires_grad and aux["name"] == "n"


def test_the_derivative_of_a_derivatives_companion():
    def outer(x):
        g, aux = gradus.func.grad(lambda x: ((x ** 2).sum(), x * 3), has_aux=True)(x)
        return (g * aux).sum()  # 6 x^2

    assert gradus.func.grad(outer)(gradus.tensor([1.0, 2.0])).tolist() == [12, 24]


def test_linearize():
    value, along = gradus.func.linearize(lambda x, p: {"y": x * p["w"]}, gradus.tensor(2.0), {"w": gradus.tensor(3.0)})
    assert value["y"].item() == 6 and along(gradus.tensor(1.0), {"w": gradus.tensor(10.0)})["y"].item() == 23


# --- Comparisons

def outcome(torch, compare):
    """What a comparison says, or the kind of its error."""
    try:
        compare(torch.testing.assert_close, torch)
    except AssertionError as error:
        return str(error)
    except (RuntimeError, TypeError, ValueError) as error:
        return ValueError if isinstance(error, ValueError) else TypeError
    return None


@pytest.mark.parametrize("compare", [
    lambda close, t: close(t.ones(2), t.ones(2) + 1e-7),
    lambda close, t: close(t.tensor([[1.0, 2.0], [5.0, 4.0]]), t.tensor([[1.0, 3.0], [8.0, 4.0]])),
    lambda close, t: close(t.tensor([1, 2]), t.tensor([1, 3])),
    lambda close, t: close(t.tensor(1.0), t.tensor(2.0)),
    lambda close, t: close(1, 2),
    lambda close, t: close(1.0, 1.0 + 1e-5),
    lambda close, t: close(1.0, float("nan")),
    lambda close, t: close({"a": [t.ones(2)]}, {"a": [t.zeros(2)]}),
    lambda close, t: close([t.ones(1), 3], (t.ones(1), 4)),
    lambda close, t: close(t.tensor([float("nan"), 2.0]), t.tensor([float("nan"), 1.0]), equal_nan=True),
    lambda close, t: close(t.ones(2, dtype=t.uint8), t.full((2,), 2, dtype=t.uint8)),
    lambda close, t: close(t.ones(2, dtype=t.complex64), t.zeros(2, dtype=t.complex64)),
    lambda close, t: close(t.ones(2), t.ones(2) + 0.1, atol=0.2, rtol=0),
    lambda close, t: close(t.ones(2), t.ones(2) + 0.1, atol=0.2),
    lambda close, t: close(t.ones(2), t.zeros(2), msg=lambda text: "Here: " + text),
    lambda close, t: close(t.ones(2), t.zeros(2), msg="Here"),
    lambda close, t: close(t.ones(2), [1.0, 1.0]),
    lambda close, t: close("a", "a"),
    lambda close, t: close(None, None),
    lambda close, t: close(None, 1),
    lambda close, t: close(t.ones(0), t.ones(0)),
])
def test_a_comparison_says_what_differs(compare):
    torch = pytest.importorskip("torch")
    assert outcome(gradus, compare) == outcome(torch, compare)
