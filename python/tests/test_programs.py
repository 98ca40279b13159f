"""What programs of PyTorch's tutorials call beside layers: sizes, hooks, functions, loaders, averages, profiles."""

import collections
import copy
import itertools
import multiprocessing

import pytest

import gradus
from gradus import nn, optim
from gradus.autograd import Function
from gradus.autograd.function import once_differentiable
from gradus.func import functional_call, grad, grad_and_value, stack_module_state, vmap
from gradus.optim import lr_scheduler, swa_utils
from gradus.utils.checkpoint import checkpoint, checkpoint_sequential
from gradus.utils.data import ChainDataset, DataLoader, IterableDataset, StackDataset, default_collate, get_worker_info


def test_a_shape_is_a_size():
    s = gradus.ones(2, 3).shape
    assert type(s) is gradus.Size and s == (2, 3) and s.numel() == 6 and hash(s) == hash((2, 3))
    assert type(s[:1] + (4,)) is gradus.Size and type(s[0]) is int and repr(s) == "gradus.Size([2, 3])"
    assert type(gradus.ones(2).size()) is gradus.Size and gradus.ones(s).shape == s and gradus.zeros(()).shape == ()


def test_numbers_and_places_in_other_sequences():
    assert gradus.tensor(collections.deque([1.0, 2.0])).tolist() == [1, 2] and gradus.tensor(range(3)).tolist() == [0, 1, 2]
    x = gradus.arange(6).view(2, 3)
    assert x[range(2), [0, 2]].tolist() == [0, 5] and x.roll(1, 1).tolist() == [[2, 0, 1], [5, 3, 4]]
    x[range(2), 0] = 9
    assert x[:, 0].tolist() == [9, 9] and gradus.bincount(gradus.tensor([0, 2]), minlength=4).tolist() == [1, 0, 1, 0]
    with pytest.raises(TypeError):
        gradus.tensor("text")


@pytest.mark.parametrize("make", [lambda: nn.Linear(2, 2), lambda: nn.Sequential(nn.Linear(2, 2))])
def test_hooks_have_an_order_and_keywords(make):
    m, calls = make(), []
    first = m.register_forward_hook(lambda m, a, o: calls.append("first"))
    m.register_forward_hook(lambda m, a, k, o: calls.append(("kw", k)), with_kwargs=True, prepend=True)
    m.register_forward_pre_hook(lambda m, a: (a[0] * 0,))
    other = copy.deepcopy(m)
    for each in (m, other):
        calls.clear()
        bias = list(each.parameters())[1]
        assert gradus.equal(each(gradus.ones(1, 2))[0], bias) and calls == [("kw", {}), "first"]
    first.remove()
    calls.clear()
    m(gradus.ones(1, 2))
    assert calls == [("kw", {})]


def test_a_hook_before_the_gradient_goes_in():
    m = nn.Linear(2, 2)
    m.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 3,))
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(go[0].tolist()))
    m(gradus.ones(1, 2)).sum().backward()
    assert m.bias.grad.tolist() == [3, 3] and seen == [[[3, 3]]]


class Once(Function):
    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.factor, None


def test_functions_set_up_their_context_apart():
    x = gradus.ones(2, requires_grad=True)
    Once.apply(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3, 3]
    g, = gradus.autograd.grad((Once.apply(x, 3.0) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_gradients_by_call():
    x, unused = gradus.ones(2, requires_grad=True), gradus.ones(1, requires_grad=True)
    found = gradus.autograd.grad((x ** 2).sum(), (x, unused), materialize_grads=True)
    assert [g.tolist() for g in found] == [[2, 2], [0]]
    rows, = gradus.autograd.grad(x ** 2, x, gradus.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2, 0], [0, 2]]
    value, second = gradus.autograd.functional.hvp(lambda x: (x ** 3).sum(), gradus.tensor([1.0, 2.0]), gradus.ones(2))
    assert value == 9 and second.tolist() == [6, 12]


def test_functions_of_dictionaries():
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    params, buffers = {name: p.detach() for name, p in net.named_parameters()}, {}
    x = gradus.rand(4, 3)

    def loss(params, buffers, sample):
        return functional_call(net, (params, buffers), (sample.unsqueeze(0),)).sum()

    each = vmap(grad(loss), in_dims=(None, None, 0))(params, buffers, x)
    total, value = grad_and_value(lambda p: functional_call(net, p, x).sum())(params)
    assert each["0.weight"].shape == (4, 2, 3) and gradus.allclose(each["0.weight"].sum(0), total["0.weight"], atol=1e-5)
    assert gradus.allclose(value, net(x).sum()) and not total["0.bias"].requires_grad
    nets = [nn.Linear(3, 2) for _ in range(3)]
    stacked = stack_module_state(nets)
    for chunk in (None, 2):
        out = vmap(lambda p, b, x: functional_call(nets[0], (p, b), x), in_dims=(0, 0, None), chunk_size=chunk)(*stacked, x)
        assert gradus.allclose(out[2], nets[2](x), atol=1e-6)
    double = vmap(lambda d: {"a": d["a"] * 2, "b": (d["a"].sum(),)})({"a": gradus.ones(2, 3)})
    assert double["a"].shape == (2, 3) and double["b"][0].tolist() == [3, 3]
    with pytest.raises(ValueError, match="one class"):
        stack_module_state([])
    with pytest.raises(ValueError, match="missing"):
        functional_call(net, {}, x, strict=True)


def test_checkpoints_compute_again():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 2)), gradus.rand(5, 3, requires_grad=True)
    calls = []
    net[0].register_forward_hook(lambda *a: calls.append(1))
    gradus.manual_seed(3)
    net(x).sum().backward()
    expected, x.grad = x.grad, None
    weights = net[0].weight.grad.clone()
    for run in (lambda: checkpoint(net, x, use_reentrant=False), lambda: checkpoint_sequential(net, 2, x, use_reentrant=False)):
        net.zero_grad()
        x.grad = None
        gradus.manual_seed(3)
        calls.clear()
        run().sum().backward()
        assert gradus.allclose(x.grad, expected) and gradus.allclose(net[0].weight.grad, weights) and len(calls) == 2
    out = checkpoint(lambda a, k: {"y": a * k["z"]}, x, {"z": x})
    out["y"].sum().backward()


class Numbers(IterableDataset):
    def __init__(self, first, end):
        self.first, self.end = first, end

    def __iter__(self):
        info = get_worker_info()
        return iter(range(self.first, self.end)) if info is None else \
            itertools.islice(range(self.first, self.end), info.id, None, info.num_workers)


class Broken(IterableDataset):
    def __iter__(self):
        yield 1
        raise ValueError("broken")


def test_iterables_have_workers():
    loader = DataLoader(Numbers(0, 7), batch_size=2, num_workers=2)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    with pytest.raises(ValueError, match="broken"):
        list(DataLoader(Broken(), batch_size=1, num_workers=1))
    assert list(ChainDataset([Numbers(0, 2), Numbers(5, 6)])) == [0, 1, 5]
    assert StackDataset(range(3), a := [4, 5, 6])[1] == (1, 5) and StackDataset(a=a, b=a)[0] == {"a": 4, "b": 4}
    assert default_collate([("a", 1), ("b", 2)])[0] == ("a", "b")
    with pytest.raises(ValueError, match="sizes"):
        StackDataset([1], [1, 2])


def test_averages_of_weights():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    mean, ema = swa_utils.AveragedModel(net), swa_utils.AveragedModel(net, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.75))
    first = net[0].weight.detach().clone()
    for model in (mean, ema):
        model.update_parameters(net)
    net[0].weight.data.add_(4)
    for model in (mean, ema):
        model.update_parameters(net)
    assert gradus.allclose(mean.module[0].weight, first + 2) and gradus.allclose(ema.module[0].weight, first + 1)
    assert int(mean.n_averaged) == 2 and next(iter(mean.state_dict())) == "n_averaged"
    x = gradus.rand(8, 2)
    swa_utils.update_bn([(x[:4],), (x[4:],)], mean)
    inner = mean.module[0](x)
    assert gradus.allclose(mean.module[1].running_mean, inner.mean(0), atol=1e-6) and mean.module[1].momentum == 0.1
    with pytest.raises(ValueError, match="one of them"):
        swa_utils.AveragedModel(net, avg_fn=max, multi_avg_fn=max)


def test_schedules():
    def rates(make):
        sgd = optim.SGD([nn.Parameter(gradus.ones(1))], lr=1.0)
        schedule, out = make(sgd), []
        for _ in range(3):
            sgd.step()
            schedule.step()
            out.append(round(sgd.param_groups[0]["lr"], 6))
        return out

    assert rates(lambda o: lr_scheduler.MultiplicativeLR(o, lambda step: 0.5 if step < 3 else 1)) == [0.5, 0.25, 0.25]
    s = lr_scheduler
    assert rates(lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)])) == [0.25, 0.25, 0.125]


def test_profiles_have_schedules(tmp_path):
    from gradus.profiler import ProfilerAction, profile, schedule, tensorboard_trace_handler

    plan = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    names = [plan(i).name for i in range(6)]
    assert names == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE"] and plan(3) is ProfilerAction.RECORD
    seen = []
    with profile(schedule=plan, on_trace_ready=lambda p: seen.append({e.key: e.count for e in p.key_averages()})) as p:
        for _ in range(8):
            gradus.ones(2) + 1
            p.step()
    assert len(seen) == 1 and seen[0]["add"] == 2
    with profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path), "w")):
        gradus.ones(2) + 1
    assert [path.name for path in tmp_path.iterdir()] == ["w.0.pt.trace.json"]


def test_names_of_pytorchs_files():
    import gradus.backends.cudnn as cudnn
    import gradus.nn.modules.batchnorm as batchnorm
    from gradus.cuda.amp import GradScaler
    from gradus.nn.modules.conv import _ConvNd
    from gradus.nn.modules.loss import _Loss
    from gradus.nn.modules.module import Module
    from gradus.nn.modules.utils import _pair
    from gradus.utils.data.dataloader import DataLoader as Same
    from gradus.utils.data.dataset import Dataset
    from gradus.utils.tensorboard import SummaryWriter

    assert Module is nn.Module and Same is DataLoader and Dataset is gradus.utils.data.Dataset and SummaryWriter
    assert isinstance(nn.BatchNorm2d(1), batchnorm._BatchNorm) and not isinstance(nn.Linear(1, 1), batchnorm._BatchNorm)
    assert isinstance(nn.Conv1d(1, 1, 1), _ConvNd) and _pair(3) == (3, 3) and _Loss(reduction="sum").reduction == "sum"
    cudnn.deterministic = True
    assert not gradus.backends.mps.is_available() and GradScaler(enabled=False).get_scale() == 1
    assert gradus.accelerator.device_count() == gradus.cuda.device_count()
    gradus.use_deterministic_algorithms(True)
    assert gradus.are_deterministic_algorithms_enabled()
    gradus.use_deterministic_algorithms(False)
    with gradus.autocast("cpu", dtype=gradus.bfloat16):
        assert gradus.is_autocast_enabled("cpu") and gradus.get_autocast_dtype("cpu") is gradus.bfloat16
    assert not gradus.is_autocast_enabled("cpu")
    assert len(nn.LSTM(2, 3, 2, bidirectional=True).all_weights) == 4 and nn.GRU(2, 3).all_weights[0][0].shape == (9, 2)
    scaler = gradus.amp.GradScaler("cpu", init_scale=8.0)
    state = scaler.state_dict()
    assert state["scale"] == 8 and state["growth_factor"] == 2
    state["scale"] = 4.0
    scaler.load_state_dict(state)
    assert scaler.get_scale() == 4 and gradus.amp.GradScaler(16.0).get_scale() == 16
    with gradus.random.fork_rng():
        gradus.manual_seed(5)
    gradus.testing.assert_close(gradus.ones(2), gradus.ones(2) + 1e-7)
    for a, b, match in ((gradus.ones(2), gradus.zeros(2), "Mismatched elements: 2 / 2"),
                        (gradus.ones(2), gradus.ones(3), "shape"),
                        (gradus.ones(2), gradus.ones(2, dtype=gradus.float64), "dtype")):
        with pytest.raises(AssertionError, match=match):
            gradus.testing.assert_close([a], [b])


def _multiplied(rank, factor, queue):
    queue.put(rank * factor)


def _fails(rank):
    raise SystemExit(3 * rank)


def test_processes():
    queue = multiprocessing.get_context("spawn").Queue()
    gradus.multiprocessing.spawn(_multiplied, args=(5, queue), nprocs=2)
    assert sorted([queue.get(), queue.get()]) == [0, 5]
    with pytest.raises(RuntimeError, match="process 1 has ended with exit code 3"):
        gradus.multiprocessing.spawn(_fails, nprocs=2)


def test_device_and_dtype_have_places():
    assert nn.Linear(2, 3, False, "meta", gradus.float64).weight.dtype is gradus.float64
    assert nn.Linear(2, 3, True, "meta").weight.is_meta

    class Own(nn.Linear):
        def __init__(self, a, b, bias=True, device=None, dtype=None):
            super().__init__(a, b, bias, device, dtype)

    assert Own(2, 3)(gradus.ones(1, 2)).shape == (1, 3)
    for wrong in (lambda: nn.Linear(2, 3, True, "cpu", None, 1), lambda: nn.Linear(2, 3, True, "cpu", device="cpu")):
        with pytest.raises(TypeError):
            wrong()



def test_transformers_have_pytorchs_options():
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=True, batch_first=True, layer_norm_eps=1e-3, bias=False)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    x = gradus.rand(2, 3, 8)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    assert gradus.allclose(stack(x, mask=mask, is_causal=True), stack(x, mask))
    norm = layer.norm1(x)
    y = x + layer.self_attn(norm.transpose(0, 1), norm.transpose(0, 1), norm.transpose(0, 1))[0].transpose(0, 1)
    expected = y + layer.linear2(layer.linear1(layer.norm2(y)).relu())
    assert gradus.allclose(layer(x), expected, atol=1e-5) and not [n for n, _ in layer.named_parameters() if "bias" in n]
    with pytest.raises(ValueError, match="attn_mask"):
        nn.MultiheadAttention(8, 2)(x, x, x, is_causal=True)
