"""NanGuard: the first NaN by module, operation and line of Python; and batch-invariant mode."""

import inspect
import subprocess
import sys
import threading

import pytest

import gradus
from gradus import nn, watch


class Root(nn.Module):
    def forward(self, x):
        return (x - 2).sqrt()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.root = Root()

    def forward(self, x):
        return self.root(self.first(x) * 0)


def test_the_first_nan_is_an_error_with_a_report():
    line = inspect.getsourcelines(Root.forward)[1] + 1
    with pytest.raises(gradus.NanError) as seen, watch.NanGuard():
        Net()(gradus.ones(2, 4))
    report = seen.value.report
    assert str(seen.value) == report.message == (
        f"NanGuard: {report.module}, sqrt, forward, test_guard.py:{line}: 8 of 8 outputs are NaN, first at [0, 0]; "
        "inputs are finite, largest 2 in float32")
    assert report.module == "root (Root)" and report.operation == "sqrt" and report.phase == "forward"
    assert report.line == f"test_guard.py:{line}" and report.device == gradus.device("cpu") and report.made
    assert (report.nans, report.infinities, report.numel, report.first) == (8, 0, 8, (0, 0))
    gradus.zeros(3).log()  # nothing looks any more


def test_each_one_is_an_error():
    with watch.NanGuard():
        for _ in range(2):
            with pytest.raises(gradus.NanError, match="log, forward"):
                gradus.zeros(3).log()


def test_a_nan_of_a_batch_is_no_operations():
    with pytest.raises(gradus.NanError, match="input 1, of shape .* has NaN") as seen, watch.NanGuard():
        gradus.tensor([1.0, float("nan")]) * 2
    assert not seen.value.report.made


def test_backward_and_optimizers_are_looked_at():
    x = gradus.zeros(3, requires_grad=True)
    with pytest.raises(gradus.NanError) as seen, watch.NanGuard():
        x.sqrt().sum().backward()
    assert seen.value.report.phase == "backward" and seen.value.report.line == ""
    assert "sqrt_backward in SqrtBackward0, backward: 3 of 3" in str(seen.value)
    weight = nn.Parameter(gradus.ones(2))
    weight.grad = gradus.full((2,), 1e38)
    with pytest.raises(gradus.NanError) as seen, watch.NanGuard():
        gradus.optim.SGD([weight], lr=1e38).step()
    assert seen.value.report.phase == "optimizer"


def test_a_callback_is_told_once():
    reports = []
    with watch.NanGuard(reports.append) as guard:
        gradus.zeros(3).log()
        gradus.zeros(3).log()
        assert len(reports) == 1
        guard.reset()
        gradus.zeros(3).log()
    assert [each.infinities for each in reports] == [3, 3]
    with pytest.raises(gradus.Error, match="NanGuard: it has ended; make another one"):
        guard.check()

    def refuse(report):
        raise KeyError(report.operation)

    with pytest.raises(KeyError, match="log"), watch.NanGuard(refuse):
        gradus.zeros(3).log()


@pytest.mark.skipif(not gradus.cuda.is_available(), reason="there is no GPU, and no simulated one")
def test_a_gpu_tells_at_check():
    with pytest.raises(gradus.NanError, match="log, forward, cuda:0: 3 of 3") as seen, watch.NanGuard() as guard:
        gradus.zeros(3, device="cuda").log()
        guard.check()
    assert seen.value.report.device == gradus.device("cuda:0")
    with pytest.raises(gradus.NanError, match="log, forward, cuda:0: 3 of 3"), watch.NanGuard():
        gradus.zeros(3, device="cuda").log()  # told at the end of the block
    reports = []
    with watch.NanGuard(reports.append):
        gradus.zeros(3, device="cuda").log()
    assert [each.infinities for each in reports] == [3]
    guard = watch.NanGuard()
    gradus.zeros(3, device="cuda").log()
    with pytest.warns(UserWarning, match="log, forward, cuda:0"):
        del guard


def test_a_program_ends_under_a_guard():
    program = "import gradus\nkept = gradus.watch.NanGuard(lambda report: kept)\ngradus.zeros(2).log()\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_batch_invariant_mode():
    on = gradus.is_batch_invariant_mode_enabled
    before = on()
    with gradus.set_batch_invariant_mode(False):
        assert not on()
        with gradus.set_batch_invariant_mode():
            assert on()
            seen = []
            thread = threading.Thread(target=lambda: seen.append(on()))  # it is the process that has the mode
            thread.start()
            thread.join()
            assert seen == [True]
        assert not on()

        @gradus.set_batch_invariant_mode()
        def inside():
            return on()

        assert inside() and not on()
        gradus.set_batch_invariant_mode(True)
        assert on()
    assert on() == before


def test_a_row_has_the_same_bits_in_every_batch():
    gradus.manual_seed(1)
    net = nn.Sequential(nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 33)).eval()
    x = gradus.randn(64, 96)
    with gradus.set_batch_invariant_mode(), gradus.no_grad():
        whole = net(x)
        assert all(gradus.equal(net(x[i:i + 1]), whole[i:i + 1]) for i in (0, 5, 63))
