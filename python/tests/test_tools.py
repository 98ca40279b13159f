"""What stands beside tensors and layers: modes, files, loaders, processes and checkpoints, as PyTorch's programs use them."""

import contextlib
import copy
import math
import os
import pickle
import threading

import pytest

import gradus
from gradus import nn
from gradus.utils import data


def steps_of(mode, log):
    """A generator that notes the mode at each of its steps."""
    def steps(first):
        try:
            log.append((first, mode()))
            log.append(((yield 1), mode()))
            try:
                yield 2
            except KeyError as error:
                log.append((type(error), mode()))
            yield from (mode() for _ in range(2))
            return "result"
        finally:
            log.append(("finally", mode()))

    return steps


@pytest.mark.parametrize("name, read", [
    ("no_grad", "is_grad_enabled"), ("inference_mode", "is_inference_mode_enabled"),
    ("set_grad_enabled", "is_grad_enabled"), ("enable_grad", "is_grad_enabled")])
def test_a_switch_decorates_generators(name, read):
    def seen(m):
        mode, log, between = getattr(m, read), [], []

        async def coroutine():
            return mode()

        make, coroutine = (getattr(m, name)(*[False] * (name == "set_grad_enabled"))(function)
                           for function in (steps_of(mode, log), coroutine))
        with m.set_grad_enabled(name != "enable_grad"):
            assert make.__name__ == "steps"
            steps = make("first")
            for step in (lambda: next(steps), lambda: steps.send("sent"), lambda: steps.throw(KeyError("thrown")),
                         lambda: next(steps)):
                between.append((step(), mode()))
            with pytest.raises(StopIteration) as end:
                next(steps)
            closed, broken = make("closed"), make("broken")
            next(closed), closed.close()
            next(broken)
            with pytest.raises(ValueError, match="of the caller"):
                broken.throw(ValueError("of the caller"))

            with pytest.raises(StopIteration) as at_once:
                coroutine().send(None)
            return log, between, end.value.value, mode(), at_once.value.value

    log, between, result, after, in_coroutine = found = seen(gradus)
    inside = name in ("inference_mode", "enable_grad")
    assert all(each[1] == inside for each in log) and len(log) == 8
    assert all(each[1] != inside for each in between) and after != inside
    assert result == "result" and in_coroutine != inside  # it runs later
    assert found == seen(pytest.importorskip("torch"))


@pytest.mark.parametrize("kind, name", [(FileNotFoundError, "none.pt"), (IsADirectoryError, "."), (PermissionError, "secret.pt")])
def test_a_file_that_cannot_be_opened_is_an_error_of_python_too(tmp_path, monkeypatch, kind, name):
    path = tmp_path / name
    if name == "secret.pt":
        def refused(*args):
            raise PermissionError(13, "Permission denied", str(path))  # the superuser may read all files

        monkeypatch.setitem(vars(gradus.serialization), "open", refused)
    for expected in (kind, OSError, gradus.Error, RuntimeError):
        with pytest.raises(expected, match="^load: .*cannot be opened: .*; check the path") as caught:
            gradus.load(path)
        assert caught.value.errno and caught.value.filename
        assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)


def test_a_file_is_saved_into_a_folder_that_is_there(tmp_path):
    with pytest.raises(RuntimeError, match="cannot be written: No such file"):
        gradus.save(gradus.ones(2), tmp_path / "none/x.pt")


@pytest.mark.skipif(gradus.cuda.is_available(), reason="there are GPUs")
@pytest.mark.parametrize("given", [{}, {"device_ids": [0, 1], "output_device": 0}, {"device_ids": ["cuda:0"]}])
def test_data_parallel_without_gpus_calls_the_module(given):
    class Counted(nn.Linear):
        def forward(self, x, times=1):
            return {"out": super().forward(x) * times, "times": times}

    module, x = Counted(2, 3), gradus.rand(4, 2)
    parallel = nn.DataParallel(module, **given)
    out = parallel(x, times=2)
    assert out["times"] == 2 and gradus.equal(out["out"], 2 * (x @ module.weight.T + module.bias))
    assert parallel.module is module and list(parallel.state_dict()) == ["weight", "bias"]


def raises_in_one(i, value):
    if i == 1:
        raise KeyError(f"no {value}")
    threading.Event().wait(60)  # the failure of another process ends this one


def exits_in_one(i, code):
    if i == 1:
        os._exit(code) if code > 0 else os.kill(os.getpid(), -code)
    threading.Event().wait(60)


def test_the_error_of_a_process_is_told():
    mp = gradus.multiprocessing
    with pytest.raises(mp.ProcessRaisedException, match=r"process 1 has (?s:.*)Traceback(?s:.*)in raises_in_one\n") as caught:
        mp.spawn(raises_in_one, args=("name",), nprocs=2)
    error = caught.value
    assert str(error).rstrip().endswith("KeyError: 'no name'") and error.error_index == 1 and error.error_pid > 0
    assert isinstance(error, (mp.ProcessException, gradus.Error)) and str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("code, signal_name, text", [(3, None, "with exit code 3"), (-9, "SIGKILL", "by signal SIGKILL")])
def test_the_end_of_a_process_is_told(code, signal_name, text):
    mp = gradus.multiprocessing
    with pytest.raises(mp.ProcessExitedException, match=f"process 1 has ended {text}") as caught:
        mp.spawn(exits_in_one, args=(code,), nprocs=2)
    error = caught.value
    assert (error.error_index, error.exit_code, error.signal_name) == (1, code, signal_name)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


def test_processes_are_joined_for_some_time():
    context = gradus.multiprocessing.spawn(exits_in_one, args=(3,), nprocs=1, join=False, daemon=True)
    assert context.join(0.01) is False and len(context.pids()) == 1
    context.processes[0].kill()
    with pytest.raises(RuntimeError, match="SIGKILL"):
        context.join()


def test_linalg_has_its_error():
    assert gradus.linalg.LinAlgError is gradus.LinAlgError
    with pytest.raises(gradus.linalg.LinAlgError):
        gradus.linalg.inv(gradus.zeros(2, 2))


@pytest.mark.parametrize("x, n", [([1, 2, 3, 5], None), ([[1.0, 2.0], [3.0, 5.0]], 3), (2.0, 4), ([1.5, 2.5], 2)])
def test_vander(x, n):
    torch = pytest.importorskip("torch")
    found, expected = (m.linalg.vander(m.tensor(x), N=n) for m in (gradus, torch))
    assert found.tolist() == expected.tolist() and found.dtype is getattr(gradus, str(expected.dtype).split(".")[1])


def test_vander_says_what_is_wrong():
    with pytest.raises(ValueError, match="N is 1; expected 2 or more"):
        gradus.linalg.vander(gradus.ones(3), N=1)
    with pytest.raises(TypeError, match="bool"):
        gradus.linalg.vander(gradus.ones(3, dtype=gradus.bool))


def test_a_checkpoint_takes_contexts():
    from gradus.utils.checkpoint import checkpoint

    log = []

    @contextlib.contextmanager
    def context(name):
        log.append(name)
        yield
        log.append(f"end of {name}")

    def f(x, scale):
        log.append("f")
        return (x * scale).sin()

    x = gradus.ones(2, requires_grad=True)
    out = checkpoint(f, x, scale=2.0, use_reentrant=False, determinism_check="none", debug=False, early_stop=False,
                     context_fn=lambda: (context("first"), context("second")))
    out.sum().backward()
    assert log == ["first", "f", "end of first", "second", "f", "end of second"]
    assert x.grad.tolist() == pytest.approx([2 * math.cos(2)] * 2)


def test_jacobians_take_the_ways_to_compute_them():
    from gradus.autograd.functional import hessian, jacobian

    x = gradus.tensor([1.0, 2.0])
    assert jacobian(lambda x: x ** 2, x, vectorize=True).tolist() == [[2, 0], [0, 4]]
    assert jacobian(lambda x: x ** 2, x, vectorize=True, strategy="forward-mode").tolist() == [[2, 0], [0, 4]]
    assert hessian(lambda x: (x ** 3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").tolist() == [[6, 0], [0, 12]]


class Counting(data.IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


class Sized(Counting):
    def __len__(self):
        return self.count


class Many(data.Dataset):
    """Gives its examples by one call, and counts these."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, index):
        return 10 * index

    def __getitems__(self, indices):
        self.calls.append(indices)
        return [10 * i for i in indices]

    def __len__(self):
        return 6


def test_a_batch_is_fetched_by_one_call():
    many = Many()
    assert [batch.tolist() for batch in data.DataLoader(many, batch_size=4)] == [[0, 10, 20, 30], [40, 50]]
    assert many.calls == [[0, 1, 2, 3], [4, 5]]
    subset = data.Subset(many, [5, 3, 1])
    assert [batch.tolist() for batch in data.DataLoader(subset, batch_size=2)] == [[50, 30], [10]]
    assert many.calls[2:] == [[5, 3], [1]] and subset.__getitems__([2, 0]) == [10, 50]
    assert data.Subset(range(6), [5, 3, 1]).__getitems__([2, 0]) == [1, 5]
    assert data.Subset(gradus.arange(6), [5, 3, 1])[[2, 0]].tolist() == [1, 5]

    class Negative(data.Subset):
        def __getitem__(self, index):
            return -super().__getitem__(index)

    assert Negative(many, [5, 3]).__getitems__([1, 0]) == [-30, -50]


def test_the_length_of_a_loader_of_an_iterable_dataset():
    for options in ({}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}):
        loader = data.DataLoader(Sized(10), **options)
        assert len(loader) == len(list(loader))
        with pytest.raises(TypeError, match="object of type 'Counting' has no len"):
            len(data.DataLoader(Counting(10), **options))


def test_a_loader_stays_as_it_was_made():
    loader = data.DataLoader(range(6), batch_size=2, num_workers=1, persistent_workers=True, pin_memory_device="", in_order=True)
    assert loader.persistent_workers is True and loader.prefetch_factor == 2 and loader.timeout == 0
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match=f"{name} is assigned after the DataLoader was made"):
            setattr(loader, name, 1)
    loader.num_workers = 0
    assert [batch.tolist() for batch in copy.deepcopy(loader)] == [[0, 1], [2, 3], [4, 5]]
    sampled = data.DataLoader(range(6), batch_sampler=[[0, 3]])
    assert sampled.batch_size is None and sampled.prefetch_factor is None and sampled.persistent_workers is False
    assert [batch.tolist() for batch in sampled] == [[0, 3]]


def test_an_order_of_no_examples():
    assert list(data.DataLoader([])) == []
    for make in (lambda: data.DataLoader([], shuffle=True), lambda: data.RandomSampler([]),
                 lambda: data.RandomSampler(range(3), num_samples=0)):
        with pytest.raises(ValueError, match="num_samples is 0; expected 1 or more"):
            make()
    with pytest.raises(ValueError, match="batch_size is 0; expected 1 or more"):
        data.BatchSampler(range(3), 0, False)


def test_an_order_of_more_samples_than_examples():
    sampler = data.RandomSampler(range(3), num_samples=7)
    order = list(sampler)
    assert len(sampler) == len(order) == 7 and sorted(order[:3]) == sorted(order[3:6]) == [0, 1, 2]
