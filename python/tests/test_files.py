"""save() and load(): what a checkpoint of PyTorch's tutorials holds."""

import collections
import io
import pathlib

import pytest

import gradus
from gradus import nn, optim


def trained():
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    adam = optim.Adam(net.parameters(), lr=0.1)
    net(gradus.rand(4, 3)).sum().backward()
    adam.step()
    return net, adam


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    net, adam = trained()
    path = tmp_path / "checkpoint.pt"
    gradus.save({"epoch": 3, "loss": 0.5, "best": None, "name": "net", "done": True, "model": net.state_dict(),
                 "optimizer": adam.state_dict(), "sizes": (1, [2, gradus.arange(2)]), 7: "seven",
                 "dtype": gradus.float16, "device": gradus.device("cpu"), "shape": gradus.ones(2, 3).shape}, path)
    back = gradus.load(path, map_location="cpu", weights_only=True)
    assert [back[key] for key in ("epoch", "loss", "best", "name", "done", 7)] == [3, 0.5, None, "net", True, "seven"]
    assert back["done"] is True and type(back["sizes"]) is tuple and back["sizes"][1][1].tolist() == [0, 1]
    assert back["dtype"] is gradus.float16 and back["device"] == gradus.device("cpu")
    assert type(back["shape"]) is gradus.Size and isinstance(back["model"], collections.OrderedDict)
    other, theirs = trained()
    other.load_state_dict(back["model"])
    theirs.load_state_dict(back["optimizer"])
    for a, b in ((net, adam), (other, theirs)):
        b.zero_grad()
        a(gradus.ones(2, 3) * gradus.tensor([[1.0], [2.0]])).square().sum().backward()
        b.step()
    assert all(gradus.equal(a, b) for a, b in zip(net.state_dict().values(), other.state_dict().values()))


def test_a_whole_module_is_its_state(tmp_path):
    net, path = nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 3)), tmp_path / "net.pth"
    net[1].weight = net[0].weight
    gradus.save({"net": net, "sgd": optim.SGD(net.parameters(), 0.1)}, path)
    with pytest.raises(TypeError, match="load: weights_only is False, and the file holds the state of Sequential, SGD, not"):
        gradus.load(path, weights_only=False)
    assert list(gradus.load(path)["net"]) == ["0.weight", "1.weight", "1.bias"]
    assert sorted(gradus.load_file(path))[:2] == ["net.0.weight", "net.1.bias"]  # C++ reads the tensors
    gradus.save({"net": net.state_dict(), "epoch": 3}, path)
    assert gradus.load(path, weights_only=False)["epoch"] == 3


@pytest.mark.parametrize("structure", ["", "{", '{"tensor": "b"}', '{"module": []}', '{"dtype": "save_file"}', '{"list": 3}',
                                       '{"dict": [[1]]}', '{"a": 1, "b": 2}', "[" * 100000])
def test_a_file_that_says_what_nobody_writes(tmp_path, structure):
    gradus.save_file({"a": gradus.ones(2)}, tmp_path / "x", {"gradus.structure": structure})
    with pytest.raises(ValueError, match="load: .*x' says of itself what save"):
        gradus.load(tmp_path / "x")
    assert gradus.load_file(tmp_path / "x")["a"].tolist() == [1, 1]


def test_files_that_are_open(tmp_path):
    buffer = io.BytesIO()
    gradus.save([gradus.ones(2), {"a": gradus.arange(3)}], buffer)
    buffer.seek(0)
    first, second = gradus.load(buffer)
    assert first.tolist() == [1, 1] and second["a"].tolist() == [0, 1, 2]
    with open(tmp_path / "x", "wb") as file:
        gradus.save(gradus.zeros(1), file)
    assert gradus.load(tmp_path / "x").tolist() == [0]


def test_what_is_no_value_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"a\.b is of type object"):
        gradus.save({"a": {"b": object()}}, tmp_path / "x")
    gradus.save({"a": gradus.ones(1)}, tmp_path / "x")
    with pytest.raises(TypeError):
        gradus.save({"b": object()}, tmp_path / "x")
    assert list(gradus.load(tmp_path / "x")) == ["a"]


def test_states_of_optimizers_have_pytorchs_form():
    net, adam = trained()
    state = adam.state_dict()
    assert list(state) == ["state", "param_groups"] and state["param_groups"][0]["params"] == [0, 1, 2, 3]
    assert state["param_groups"][0]["lr"] == 0.1 and set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert gradus.equal(adam.state[net[0].weight]["exp_avg"], state["state"][0]["exp_avg"])
    state["param_groups"][0]["lr"] = 0.25
    adam.load_state_dict(state)
    assert adam.param_groups[0]["lr"] == 0.25
    assert optim.SGD(net.parameters(), lr=1.0).state_dict()["state"] == {}


def test_a_state_may_be_assigned():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    state = b.state_dict()
    assert str(a.load_state_dict(state, assign=True)) == "<All keys matched successfully>"
    assert a.weight.data_ptr() == state["weight"].data_ptr() and isinstance(a.weight, nn.Parameter)
    seen = []
    handle = a.register_load_state_dict_post_hook(lambda module, keys: seen.append(keys.missing_keys))
    a.load_state_dict({"weight": gradus.ones(2, 2)}, strict=False)
    handle.remove()
    a.load_state_dict(b.state_dict())
    assert seen == [["bias"]]


def test_a_state_is_in_the_order_of_the_modules():
    net, _ = trained()
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                                      "1.num_batches_tracked"]


def schedules(optimizer):
    yield optim.lr_scheduler.StepLR(optimizer, 2)
    yield optim.lr_scheduler.CosineAnnealingLR(optimizer, 9)
    yield optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=9)
    yield optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    yield gradus.amp.GradScaler("cpu")


def test_the_state_of_a_schedule_is_of_plain_values(tmp_path):
    optimizer = optim.SGD([nn.Parameter(gradus.ones(1))], lr=0.1, momentum=0.9)
    for made, fresh in zip(schedules(optimizer), schedules(optimizer)):
        optimizer.step()
        if hasattr(made, "step") and not isinstance(made, gradus.amp.GradScaler):
            made.step(*([0.5] if isinstance(made, optim.lr_scheduler.ReduceLROnPlateau) else []))
        state = made.state_dict()
        assert all(value is None or isinstance(value, (int, float, str, list)) for value in state.values()), state
        gradus.save({"state": state}, tmp_path / "state.pt")
        assert gradus.load(tmp_path / "state.pt")["state"] == state
        fresh.load_state_dict(state)
        assert fresh.state_dict() == state
        as_before = {name: gradus.tensor(value, dtype=gradus.float64 if not isinstance(value, int) else None)
                     for name, value in state.items() if isinstance(value, (int, float)) or name in ("base_lrs", "_last_lr")}
        fresh.load_state_dict(as_before)
        assert fresh.state_dict() == state


def test_a_file_of_torch_save_is_read():
    folder = pathlib.Path(__file__).resolve().parents[2] / "tests/data/files"
    found = gradus.load(folder / "checkpoint.pt", map_location="cpu")
    assert found and all(isinstance(value, gradus.Tensor) for value in found.values())
    assert {name: value.tolist() for name, value in gradus.load_pt(folder / "checkpoint.pt").items()} \
        == {name: value.tolist() for name, value in found.items()}
    with open(folder / "checkpoint.pt", "rb") as file:
        assert list(gradus.load(file)) == list(found)
    with pytest.raises(gradus.ValueError, match="by gradus.load_pt"):
        gradus.load_file(folder / "checkpoint.pt")
