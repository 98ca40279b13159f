"""Several devices and several ranks: DataParallel, process groups, DistributedDataParallel."""

import threading

import pytest

import gradus
from gradus import distributed as dist
from gradus import nn
from gradus.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    """A module of Python with layers, a buffer, and results that are nested."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        self.scale = nn.Parameter(gradus.ones(1))
        self.register_buffer("calls", gradus.zeros(1))

    def forward(self, x, extra=None, factor=1.0):
        with gradus.no_grad():
            self.calls += 1
        y = self.layers(x) * self.scale * factor
        return {"y": y, "more": (y.sum(1), None if extra is None else extra + 1)}


DEVICES = [["cpu", "cpu"], ["cpu", "cpu", "cpu"]]
if gradus.cuda.is_available():
    DEVICES.append([0, 1 % gradus.cuda.device_count()])


@pytest.mark.parametrize("ids", DEVICES, ids=str)
def test_data_parallel_of_a_module_of_python(ids):
    gradus.manual_seed(0)
    home = gradus.device(ids[0])
    net, x = Net().to(home), gradus.randn(7, 3, device=home)
    expected = net(x, extra=x, factor=2.0)
    expected["y"].square().sum().backward()
    grads = {name: p.grad for name, p in net.named_parameters()}
    net.zero_grad()
    net.calls.zero_()

    parallel = nn.DataParallel(net, ids)
    for step in range(2):
        net.zero_grad()
        out = parallel(x, extra=x, factor=2.0)
        assert set(out) == {"y", "more"} and out["more"][1].device == home
        assert out["y"].allclose(expected["y"], atol=1e-6)
        assert out["more"][0].allclose(expected["more"][0], atol=1e-6)
        assert out["more"][1].equal(x + 1)
        out["y"].square().sum().backward()
        for name, p in net.named_parameters():
            assert p.grad.allclose(grads[name], atol=1e-5), name
        assert net.calls.item() == step + 1  # of the first replica
    assert parallel(x)["more"][1] is None
    # Parameters that have changed reach the replicas.
    with gradus.no_grad():
        net.scale.mul_(3)
    assert parallel(x, factor=2.0)["y"].allclose(3 * expected["y"], atol=1e-5)
    assert list(parallel.state_dict()) == list(net.state_dict())
    assert parallel.module is net and "Net" in repr(parallel)


def test_data_parallel_of_a_layer():
    layer = nn.Linear(3, 2)
    parallel = nn.DataParallel(layer, ["cpu", "cpu"])
    x = gradus.randn(4, 3)
    assert parallel(x).allclose(layer(x))
    assert parallel(x[:1]).shape == (1, 2)  # fewer rows than devices
    assert not parallel.eval().training and not layer.training


def test_data_parallel_says_what_is_wrong():
    class Broken(nn.Module):
        def forward(self, x):
            raise KeyError("what Python raised")

    class Uneven(nn.Module):
        def forward(self, x):
            return [x] * int(x[0, 0].item())

    x = gradus.tensor([[1.0], [2.0]])
    with pytest.raises(KeyError, match="what Python raised"):
        nn.DataParallel(Broken(), ["cpu", "cpu"])(x)
    with pytest.raises(gradus.ValueError, match="replica 0|shape|expected"):
        nn.DataParallel(nn.Linear(3, 2), ["cpu", "cpu"])(x)
    with pytest.raises(gradus.Error, match="different numbers of tensors"):
        nn.DataParallel(Uneven(), ["cpu", "cpu"])(x)
    with pytest.raises(gradus.TypeError, match="list of devices"):
        nn.DataParallel(nn.Linear(1, 1), ["cpu", 1.5])
    with pytest.raises(gradus.ValueError, match="empty list"):
        nn.DataParallel(nn.Linear(1, 1), [])
    with pytest.raises(gradus.TypeError, match="is not copied"):
        import copy

        copy.deepcopy(nn.DataParallel(nn.Linear(1, 1), ["cpu"]))


def test_collectives():
    seen = {}

    def rank_of_two(rank, factor):
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (rank, 2, "threads")
        x = gradus.full((3,), float(rank + 1)) * factor
        assert dist.all_reduce(x) is None
        y = gradus.full((2,), rank)
        work = dist.all_reduce(y, dist.ReduceOp.MAX, async_op=True)
        assert work.wait() and work.is_completed()
        parts = [gradus.zeros(2, dtype=gradus.int64) for _ in range(2)]
        dist.all_gather(parts, gradus.full((2,), rank))
        z = gradus.full((1,), float(rank))
        dist.broadcast(z, src=1)
        whole = gradus.zeros(2)
        dist.all_gather_into_tensor(whole, gradus.full((1,), float(rank)))
        mine = gradus.zeros(1)
        dist.reduce_scatter(mine, [gradus.ones(1), gradus.full((1,), 2.0)])
        got = [gradus.zeros(1) for _ in range(2)] if rank == 0 else None
        dist.gather(gradus.full((1,), float(rank)), got)
        dealt = gradus.zeros(1)
        dist.scatter(dealt, [gradus.ones(1) * 5, gradus.ones(1) * 6] if rank == 0 else None)
        out = gradus.zeros(2)
        dist.all_to_all_single(out, gradus.tensor([10.0 * rank, 10.0 * rank + 1]))
        message = gradus.zeros(1)
        if rank == 0:
            dist.send(gradus.full((1,), 9.0), dst=1)
        else:
            assert dist.recv(message) == 0
        group = dist.new_group([1])
        assert group.rank() == (0 if rank == 1 else -1)
        dist.barrier()
        seen[rank] = [x.tolist(), y.tolist(), [each.tolist() for each in parts], z.item(), whole.tolist(),
                      mine.item(), got and [each.item() for each in got], dealt.item(), out.tolist(), message.item()]

    dist.spawn_threads(2, rank_of_two, args=(2,))
    assert seen[0] == [[6, 6, 6], [1, 1], [[0, 0], [1, 1]], 1, [0, 1], 2, [0, 1], 5, [0, 10], 0]
    assert seen[1] == [[6, 6, 6], [1, 1], [[0, 0], [1, 1]], 1, [0, 1], 4, None, 6, [1, 11], 9]
    assert not dist.is_initialized()


def test_errors_of_ranks():
    with pytest.raises(gradus.Error, match="init_process_group"):
        dist.get_rank()
    with pytest.raises(gradus.Error, match="init_process_group"):
        dist.all_reduce(gradus.ones(1))
    with pytest.raises(gradus.ValueError, match="gloo"):
        dist.init_process_group("gloo")
    with pytest.raises(gradus.ValueError, match="timeout = -1"):
        dist.init_process_group("mpi", timeout=-1)

    def fails(rank):
        if rank == 1:
            raise LookupError("of rank 1")
        with pytest.raises(gradus.DistributedError, match="rank 1"):
            dist.all_reduce(gradus.ones(1))

    with pytest.raises(LookupError, match="of rank 1"):
        dist.spawn_threads(2, fails)
    with pytest.raises(gradus.TypeError, match="tensor_list is a list of tensors"):
        dist.spawn_threads(1, lambda rank: dist.all_gather(1, gradus.ones(1)))


def test_distributed_data_parallel_trains_as_one_model():
    gradus.manual_seed(0)
    x, y = gradus.randn(8, 3), gradus.randn(8, 2)
    start = Net().state_dict()

    def train(model, net, x, y):
        sgd = gradus.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            sgd.zero_grad()
            nn.functional.mse_loss(model(x)["y"], y).backward()
            sgd.step()
        return {name: value.clone() for name, value in net.state_dict().items()}

    alone = Net()
    alone.load_state_dict(start)
    expected = train(alone, alone, x, y)
    results, lock = {}, threading.Lock()

    def rank_of_two(rank):
        net = Net()
        net.load_state_dict(start)
        model = DistributedDataParallel(net)
        assert list(model.state_dict()) == list(net.state_dict())
        part = slice(4 * rank, 4 * rank + 4)
        state = train(model, net, x[part], y[part])
        with model.no_sync():
            net.zero_grad()
            model(x[part])["y"].sum().backward()
        with lock:
            results[rank] = state, net.scale.grad.item()

    dist.spawn_threads(2, rank_of_two)
    for rank in range(2):
        for name, value in expected.items():
            assert results[rank][0][name].allclose(value, atol=1e-6), name
    assert results[0][1] != results[1][1]  # not averaged
