"""Forms of PyTorch that programs use first, and that no row of the tables is."""

import copy
import math
import pickle
import threading

import pytest

import gradus
from gradus import nn, optim
from gradus.nn import functional as F


@pytest.mark.parametrize("name", ["MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d",
                                  "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d"])
def test_an_option_has_the_default_that_follows_from_another(name):
    dims = int(name[-2])
    norm = (2.0,) if name.startswith("LP") else ()
    layer = getattr(nn, name)(*norm, 2)
    assert list(layer.stride) == [2] * dims
    x = gradus.rand(1, 1, *[6] * dims)
    assert layer(x).shape == (1, 1, *[3] * dims)
    function = getattr(F, name.replace("Pool", "_pool").replace("LP", "lp").lower())
    assert gradus.equal(function(x, *norm, 2), layer(x))
    assert function(x, *norm, 2, stride=1).shape[-1] == 5


def test_attention_has_the_width_of_its_embedding():
    attention = nn.MultiheadAttention(8, 2)
    assert attention.kdim == attention.vdim == 8 and attention.head_dim == 4
    out, weights = attention(*[gradus.rand(3, 2, 8)] * 3)
    assert out.shape == (3, 2, 8) and weights.shape == (2, 3, 3)
    assert nn.MultiheadAttention(8, 2, kdim=4, vdim=6).k_proj_weight.shape == (8, 4)


@pytest.mark.parametrize("make", [
    lambda **o: nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, **o),
    lambda **o: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, **o), 2),
])
def test_batches_may_come_first(make):
    first, second = make(batch_first=True).eval(), make().eval()
    second.load_state_dict(first.state_dict())
    x = gradus.rand(4, 5, 8)
    assert gradus.equal(first(x), second(x.transpose(0, 1)).transpose(0, 1))
    for copied in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert gradus.equal(copied(x), first(x))


def test_batches_may_come_first_in_attention_and_decoders():
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x, y = gradus.rand(4, 5, 8), gradus.rand(4, 3, 8)
    out, _ = attention(y, key=x, value=x)
    assert out.shape == (4, 3, 8)
    layer = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16, batch_first=True).eval()
    assert layer(y, x).shape == (4, 3, 8)
    assert nn.TransformerDecoder(layer, 2).eval()(y, memory=x).shape == (4, 3, 8)
    whole = nn.Transformer(8, 2, 1, 1, 16, batch_first=True).eval()
    assert whole(x, y).shape == (4, 3, 8)


PAIRS = {
    "topk": lambda x: x.topk(2), "sort": lambda x: x.sort(), "max": lambda x: x.max(1),
    "min": lambda x: x.min(0, keepdim=True), "median": lambda x: x.median(1),
    "mode": lambda x: x.mode(), "kthvalue": lambda x: x.kthvalue(1), "cummax": lambda x: x.cummax(0),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_names(name):
    pair = PAIRS[name](gradus.tensor([[1.0, 3.0], [2.0, 0.0]]))
    values, indices = pair
    assert pair.values is values and pair.indices is indices


def test_other_results_have_names():
    x = gradus.tensor([[2.0, 0.0], [0.0, 1.0]])
    assert x.aminmax().max.item() == 2 and gradus.linalg.qr(x).R.shape == (2, 2)
    assert gradus.linalg.eigh(x).eigenvalues.tolist() == [1, 2]
    assert gradus.linalg.svd(x).S.tolist() == [2, 1] and gradus.linalg.slogdet(x).sign.item() == 1


def test_arguments_before_a_keyword_may_be_left_out():
    x = gradus.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert x.clamp(max=1).tolist() == [[1, 1], [0, 1]]
    assert gradus.clip(x, max=1).tolist() == [[1, 1], [0, 1]]
    assert x.norm(dim=1).tolist() == [5, 1] and x.sum(keepdim=True).shape == (1, 1)
    assert gradus.stft(gradus.rand(100), 16, return_complex=True).is_complex()
    assert x.std(keepdim=True).shape == (1, 1)


def test_lists_of_tensors_may_come_one_by_one():
    a, b = gradus.rand(2, 3), gradus.rand(3, 4)
    assert gradus.allclose(gradus.einsum("ij,jk->ik", a, b), a @ b)
    assert gradus.allclose(gradus.einsum("ij,jk->ik", [a, b]), a @ b)
    x, y = gradus.meshgrid(gradus.arange(2), gradus.arange(3), indexing="ij")
    assert x.tolist() == [[0] * 3, [1] * 3] and y.tolist() == [[0, 1, 2]] * 2
    assert gradus.broadcast_tensors(gradus.ones(1), gradus.ones(3))[0].shape == (3,)
    assert gradus.cartesian_prod(gradus.arange(2), gradus.arange(2)).shape == (4, 2)
    assert gradus.block_diag(gradus.ones(1, 1), gradus.ones(2, 2)).shape == (3, 3)


def test_constructors():
    assert gradus.Tensor([1, 2]).dtype is gradus.float32 and gradus.Tensor(2, 3).shape == (2, 3)
    assert gradus.FloatTensor([1]).tolist() == [1] and gradus.LongTensor([1]).dtype is gradus.int64
    assert gradus.BoolTensor([1, 0]).tolist() == [True, False] and gradus.ByteTensor(2).shape == (2,)
    x = gradus.ones(2, dtype=gradus.float64)
    assert x.new_zeros(3).dtype is gradus.float64 and x.new_ones(2, 2).shape == (2, 2)
    assert x.new_full((2,), 7).tolist() == [7, 7] and x.new_tensor([1]).dtype is gradus.float64
    assert x.new_empty(2, dtype=gradus.int32).dtype is gradus.int32
    assert x.type() == "gradus.DoubleTensor" and x.type(gradus.int64).dtype is gradus.int64
    assert gradus.Size([2, 3]) == (2, 3) and gradus.Size([2, 3]).numel() == 6
    assert gradus.is_tensor(x) and gradus.numel(x) == 2 and not gradus.is_tensor(1)
    assert x.new(2, 3).shape == x.new(gradus.Size([2, 3])).shape == (2, 3) and x.new().shape == (0,)
    assert x.new([1, 2]).tolist() == [1, 2] and x.new(2, 3).dtype is x.new([1]).dtype is gradus.float64
    with pytest.raises(TypeError):
        gradus.Tensor("a")


def test_classes_by_dtype_are_classes():
    for name, dtype in (("Float", gradus.float32), ("Double", gradus.float64), ("Long", gradus.int64), ("Bool", gradus.bool),
                        ("Byte", gradus.uint8), ("BFloat16", gradus.bfloat16)):
        kind, x = getattr(gradus, f"{name}Tensor"), gradus.ones(2, dtype=dtype)
        assert isinstance(x, kind) and not isinstance(x.to(gradus.int16), kind) and not isinstance(1, kind)
        assert kind(2, 3).dtype is dtype and kind(gradus.Size([2, 3])).shape == (2, 3) and kind().shape == (0,)
        y = gradus.ones(2, dtype=gradus.int16)
        assert y.type(kind).dtype is y.type(x.type()).dtype is y.type(f"torch.{name}Tensor").dtype is dtype
        assert x.type() == f"{kind.__module__}.{kind.__name__}" and not isinstance(x, getattr(gradus.cuda, f"{name}Tensor"))
    with pytest.raises(gradus.ValueError, match="'float' is no class of tensors"):
        x.type("float")


def test_limits_of_dtypes():
    assert gradus.finfo(gradus.float32).eps == 2.0 ** -23
    assert gradus.finfo(gradus.float32).max == 3.4028234663852886e38
    assert gradus.finfo(gradus.float16).max == 65504 and gradus.finfo().tiny == 2.0 ** -126
    assert gradus.finfo(gradus.float64).max == 1.7976931348623157e308
    assert gradus.finfo(gradus.bfloat16).eps == 0.0078125
    for dtype, digits in ((gradus.float16, 3), (gradus.bfloat16, 2), (gradus.float32, 6), (gradus.float64, 15)):
        assert gradus.finfo(dtype).resolution == 10.0 ** -digits
    assert repr(gradus.finfo(gradus.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, "
        "tiny=1.17549e-38, dtype=float32)")
    assert (gradus.iinfo(gradus.int8).min, gradus.iinfo(gradus.uint8).max) == (-128, 255)
    assert gradus.promote_types(gradus.int32, gradus.float16) is gradus.float16
    assert gradus.can_cast(gradus.int64, gradus.float16)
    assert not gradus.can_cast(gradus.float32, gradus.int64)
    for wrong in (lambda: gradus.finfo(gradus.int8), lambda: gradus.iinfo(gradus.float32)):
        with pytest.raises(TypeError, match="expected one"):
            wrong()


def test_unique():
    x = gradus.tensor([3, 1, 3])
    assert gradus.unique(x).tolist() == [1, 3]
    values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert (inverse.tolist(), counts.tolist()) == ([1, 0, 1], [1, 2])
    assert gradus.tensor([[1, 2], [1, 2]]).unique(dim=0).tolist() == [[1, 2]]


def test_random_numbers_in_place():
    g = gradus.Generator().manual_seed(1)
    x = gradus.empty(10000)
    assert x.uniform_(2, 4, generator=g) is x and 2 <= x.min() and x.max() < 4
    assert abs(x.mean() - 3) < 0.05
    assert abs(x.normal_(1, 2, generator=g).std() - 2) < 0.1
    assert abs(x.exponential_(2, generator=g).mean() - 0.5) < 0.05
    assert abs(x.bernoulli_(0.25, generator=g).mean() - 0.25) < 0.03
    assert x.geometric_(0.5).min() == 1 and x.log_normal_().min() > 0 and x.cauchy_() is x
    n = gradus.empty(1000, dtype=gradus.int64)
    assert n.random_(5).max() == 4 and n.random_(2, 4).min() == 2
    y = gradus.empty(10000)
    nn.init.trunc_normal_(y, std=0.5, a=-0.5, b=0.5)
    assert y.min() >= -0.5 and y.max() <= 0.5 and abs(y.std() - 0.27) < 0.02
    assert nn.init._calculate_fan_in_and_fan_out(gradus.empty(4, 3, 5, 5)) == (75, 100)


def test_containers_by_place():
    layers = nn.ModuleList(nn.Linear(1, i + 1) for i in range(3))
    layers.insert(1, nn.Tanh())
    layers += [nn.ReLU()]
    assert [type(m).__name__ for m in layers] == ["Linear", "Tanh", "Linear", "Linear", "ReLU"]
    assert list(layers._modules) == list("01234")
    del layers[1]
    assert layers.pop(-1).__class__ is nn.ReLU and len(layers) == 3
    assert [m.weight.shape[0] for m in layers[1:]] == [2, 3]
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).extend([nn.Tanh()])
    del net[0]
    assert [type(m).__name__ for m in net] == ["ReLU", "Tanh"] and list(net._modules) == ["0", "1"]
    named = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    assert named.pop("a").__class__ is nn.ReLU and list(named) == ["b"]
    named.clear()
    assert len(named) == 0


def test_states_say_what_is_missing():
    m = nn.Linear(2, 2)
    result = m.load_state_dict({"weight": gradus.ones(2, 2), "other": gradus.ones(1)}, strict=False)
    assert (result.missing_keys, result.unexpected_keys) == (["bias"], ["other"])
    assert m.weight.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match="bias"):
        m.load_state_dict({"weight": gradus.ones(2, 2)})
    assert not m.load_state_dict(m.state_dict()).missing_keys
    assert list(m.state_dict(prefix="a.")) == ["a.weight", "a.bias"]
    assert m.state_dict(keep_vars=True)["weight"] is m.weight


def test_a_buffer_may_be_left_out_of_the_state():
    m = nn.Module()
    m.part = nn.Module()
    m.part.register_buffer("mask", gradus.ones(1), persistent=False)
    m.part.register_buffer("kept", gradus.ones(1))
    assert list(m.state_dict()) == ["part.kept"] and len(list(m.buffers())) == 2
    m.load_state_dict({"part.kept": gradus.zeros(1)})
    other = copy.deepcopy(m)
    assert list(other.state_dict()) == ["part.kept"] and other.part.mask.item() == 1
    assert other.get_buffer("part.kept").item() == 0
    with pytest.raises(AttributeError, match="part.none"):
        m.get_parameter("part.none")


def test_an_assigned_parameter_is_computed_with():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    assert b.weight is a.weight
    a.weight.data.fill_(3)
    b.bias = None
    assert b(gradus.ones(1, 2)).tolist() == [[6, 6]] and list(b.state_dict()) == ["weight"]
    norm = nn.BatchNorm1d(2)
    norm.running_mean = gradus.ones(2) * 5
    assert norm.eval()(gradus.full((1, 2), 5.0)).abs().max() < 1e-6
    with pytest.raises(NotImplementedError, match="LSTM: its parameter weight_ih_l0"):
        nn.LSTM(1, 1).weight_ih_l0 = nn.Parameter(gradus.zeros(4, 1))
    with pytest.raises(TypeError, match="Parameter"):
        a.weight = gradus.ones(2, 2)
    with pytest.raises(NotImplementedError, match="out_proj"):
        nn.MultiheadAttention(4, 2).out_proj = nn.Linear(4, 4)


class Twice(nn.Linear):
    def __init__(self, width):
        super().__init__(width, width)
        self.factor = nn.Parameter(gradus.full((1,), 2.0))

    def forward(self, x):
        return super().forward(x) * self.factor


def test_a_class_that_derives_from_a_layer_is_copied():
    m = Twice(3)
    x = gradus.rand(2, 3)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert type(other) is Twice and gradus.equal(other(x), m(x))
        assert list(other.state_dict()) == list(m.state_dict())
        assert other.factor is not m.factor and other.weight.data_ptr() != m.weight.data_ptr()


@pytest.mark.parametrize("make", [lambda: nn.Linear(2, 3), lambda: nn.Sequential(nn.Linear(2, 3))])
def test_full_backward_hooks(make):
    m, seen = make(), []
    handle = m.register_full_backward_hook(lambda module, gi, go: seen.append((gi, go)))
    x = gradus.ones(1, 2, requires_grad=True)
    m(x).sum().backward()
    (inputs, outputs), = seen
    assert outputs[0].tolist() == [[1, 1, 1]] and inputs[0].tolist() == x.grad.tolist()
    m(gradus.ones(1, 2)).sum().backward()
    assert seen[1][0] == (None,)
    handle.remove()
    m(x).sum().backward()
    assert len(seen) == 2
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 0,))
    x.grad = None
    m(x).sum().backward()
    assert x.grad.tolist() == [[0, 0]]


def test_groups_are_read_as_dictionaries():
    m = nn.Linear(2, 2)
    adam = optim.AdamW([{"params": [m.weight], "weight_decay": 0.5}, {"params": [m.bias], "lr": 1.0}],
                       lr=0.1, betas=(0.8, 0.9))
    first, second = adam.param_groups
    assert (first["lr"], second["lr"], first["weight_decay"]) == (0.1, 1, 0.5)
    assert dict(first)["betas"] == (0.8, 0.9) and "lr" in first and first.get("none") is None
    first.update(lr=0.2)
    assert adam.param_groups[0]["lr"] == 0.2 and adam.defaults["lr"] == 0.1
    assert "AdamW" in repr(adam) and "lr: 0.2" in repr(adam)


def rates(make, steps=4, lr=1.0):
    sgd = optim.SGD([nn.Parameter(gradus.ones(1))], lr=lr)
    schedule = make(sgd)
    out = [sgd.param_groups[0]["lr"]]
    for _ in range(steps):
        sgd.step()
        schedule.step()
        out.append(sgd.param_groups[0]["lr"])
    assert schedule.get_last_lr() == out[-1:] and schedule.optimizer is sgd
    return [round(rate, 6) for rate in out]


def test_schedules_have_the_rates_of_pytorch():
    s = optim.lr_scheduler
    assert rates(lambda o: s.StepLR(o, 2, gamma=0.5)) == [1, 1, 0.5, 0.5, 0.25]
    assert rates(lambda o: s.ExponentialLR(o, 0.5)) == [1, 0.5, 0.25, 0.125, 0.0625]
    assert rates(lambda o: s.LambdaLR(o, lambda e: 1 / (e + 1))) == [1, 0.5, 0.333333, 0.25, 0.2]
    assert rates(lambda o: s.MultiStepLR(o, [1, 3], gamma=0.1)) == [1, 0.1, 0.1, 0.01, 0.01]
    assert rates(lambda o: s.OneCycleLR(o, max_lr=1.0, epochs=2, steps_per_epoch=5,
                                        cycle_momentum=False))[:3] == [0.04, 0.52, 1.0]
    with pytest.raises(ValueError, match="steps"):
        s.OneCycleLR(optim.SGD([nn.Parameter(gradus.ones(1))], lr=1.0), max_lr=1.0)


def test_one_factor_is_that_of_every_dimension():
    for dims, mode in ((1, "nearest"), (2, "bilinear"), (3, "nearest")):
        x = gradus.rand(1, 1, *[3] * dims)
        expected = F.interpolate(x, scale_factor=[2.0] * dims, mode=mode)
        assert expected.shape[2:] == (6,) * dims
        for found in (F.interpolate(x, scale_factor=2, mode=mode), F.interpolate(x, 6, mode=mode),
                      nn.Upsample(scale_factor=2, mode=mode)(x), nn.Upsample(6, mode=mode)(x)):
            assert gradus.equal(found, expected)


def test_switches():
    with gradus.autograd.detect_anomaly(), pytest.warns(UserWarning, match="SqrtBackward0"):
        with pytest.raises(RuntimeError, match="nan"):
            x = gradus.zeros(1, requires_grad=True)
            (x.sqrt() * 0).sum().backward()
    before = gradus.get_float32_matmul_precision()
    gradus.backends.cuda.matmul.allow_tf32 = True
    assert gradus.get_float32_matmul_precision() == "high" and gradus.backends.cuda.matmul.allow_tf32
    gradus.set_float32_matmul_precision(before)
    gradus.backends.cudnn.benchmark = True
    x = gradus.rand(2)
    assert gradus.equal(F.logsigmoid(x), nn.LogSigmoid()(x))
    assert F.conv2d(gradus.rand(1, 1, 3, 3), gradus.rand(1, 1, 2, 2)).shape == (1, 1, 2, 2)
    assert F.one_hot(gradus.tensor([1]), 2).tolist() == [[0, 1]]
    assert nn.utils.rnn.pad_sequence([gradus.ones(1), gradus.ones(2)], True).shape == (2, 2)


@pytest.fixture
def no_default_device():
    yield
    gradus.set_default_device(None)


def test_factories_and_modules_follow_the_default_device(no_default_device):
    here = gradus.ones(2)
    made = (lambda: gradus.ones(2), lambda: gradus.zeros((2, 3)), lambda: gradus.rand(2), lambda: gradus.full((2,), 1.0),
            lambda: gradus.arange(3), lambda: gradus.tensor([1, 2]), lambda: gradus.as_tensor([1.0]), lambda: gradus.eye(2),
            lambda: gradus.randint(3, (2,)), lambda: gradus.normal(0.0, 1.0, (2,)), lambda: nn.Linear(2, 3).weight,
            lambda: nn.Sequential(nn.LSTM(2, 2))[0].bias_hh_l0, lambda: nn.Parameter(gradus.empty(2)))
    kept = (lambda: gradus.ones_like(here), lambda: here.new_zeros(2), lambda: gradus.ones(2, device="cpu"), lambda: here * 2,
            lambda: gradus.FloatTensor([1.0]), lambda: nn.Linear(2, 3, device="cpu").weight)
    with gradus.device("meta") as device:
        assert gradus.get_default_device() == device and {f().device.type for f in made} == {"meta"}
        assert {f().device.type for f in kept} == {"cpu"}
        with gradus.device("cpu"):
            assert {f().device.type for f in made} == {"cpu"}
        assert gradus.ones(1).is_meta
    with pytest.raises(KeyError), gradus.device("meta"):
        raise KeyError
    assert {f().device.type for f in made} == {"cpu"} and gradus.get_default_device() == gradus.device("cpu")
    gradus.set_default_device("meta")
    assert gradus.ones(1).is_meta
    with gradus.device("cpu"):
        assert not gradus.ones(1).is_meta
    seen = []
    other = threading.Thread(target=lambda: seen.append(gradus.ones(1).is_meta))
    other.start()
    other.join()
    assert seen == [False]


def test_result_types():
    x = gradus.ones(2, dtype=gradus.int32)
    assert gradus.result_type(x, 1) is gradus.int32 and gradus.result_type(x, 1.0) is gradus.float32
    assert gradus.result_type(x, gradus.tensor(1, dtype=gradus.int64)) is gradus.int32
    assert gradus.result_type(1, gradus.ones(1, dtype=gradus.float16)) is gradus.float16


def test_operations_on_each_tensor_of_a_list():
    tensors = [gradus.tensor([3.0, 4.0]), gradus.ones(4)]
    assert [x.item() for x in gradus._foreach_norm(tensors)] == [5, 2]
    assert [x.item() for x in gradus._foreach_norm(tensors, math.inf)] == [4, 1]
    gradus._foreach_mul_(tensors, 2)
    gradus._foreach_add_(tensors, [gradus.ones(2), gradus.ones(4)], alpha=-1)
    assert [x.tolist() for x in tensors] == [[5, 7], [1, 1, 1, 1]]
    with pytest.raises(ValueError, match="_foreach_add_: other has 1 items, expected 2"):
        gradus._foreach_add_(tensors, [gradus.ones(2)])


def test_text_of_tuples_with_names_and_of_infinite_numbers():
    assert repr(gradus.max(gradus.tensor([[1, 3]]), 1)) == "gradus.return_types.max(\nvalues=tensor([3]),\nindices=tensor([1]))"
    assert repr(gradus.tensor([0.0, -math.inf])) == "tensor([0., -inf])"
    assert repr(gradus.tensor([1.0, -math.inf])) == "tensor([1., -inf])"
    assert repr(gradus.tensor([-1.5, math.nan, math.inf])) == "tensor([-1.5000,     nan,     inf])"


def test_a_module_takes_a_memory_format():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv3d(3, 4, 3), nn.Linear(2, 2))
    before = [p.clone() for p in net.parameters()]
    assert net.to(memory_format=gradus.channels_last) is net
    assert net[0].weight.is_contiguous(memory_format=gradus.channels_last) and not net[0].weight.is_contiguous()
    assert net[1].weight.is_contiguous() and type(net[0].weight) is nn.Parameter and net[0].weight.requires_grad
    net.to(gradus.float64, memory_format=gradus.channels_last_3d)
    assert net[1].weight.is_contiguous(memory_format=gradus.channels_last_3d) and net[1].weight.dtype is gradus.float64
    net.to(memory_format=gradus.contiguous_format)
    assert all(p.is_contiguous() and gradus.equal(p, q.double()) for p, q in zip(net.parameters(), before))
    with pytest.raises(TypeError, match="memory_format="):
        net.to(memory_format="channels_last")
