"""Threads, signals and processes."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import gradus


def test_a_hook_may_wait_for_an_operation_of_another_thread():
    a = gradus.rand(64, 64)
    x = gradus.ones(64, 64, requires_grad=True)
    found = []

    def other():
        y = a.clone().requires_grad_()
        (y @ a).sum().backward()  # releases the GIL, and has a graph of its own
        found.append(y.grad.shape)

    def hook(grad):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()

    x.register_hook(hook)
    (x @ a).sum().backward()
    assert found == [(64, 64)] and x.grad is not None


def test_a_function_may_wait_for_an_operation_of_another_thread():
    found = []

    class F(gradus.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            thread = threading.Thread(target=lambda: found.append((gradus.ones(2000) + 1).sum().item()))
            thread.start()
            thread.join(60)
            return grad * 2

    F.apply(gradus.ones(2, requires_grad=True)).sum().backward()
    assert found == [4000]


def test_threads_let_go_of_hooks_and_collect():
    """Graphs with hooks are freed by threads that compute without the GIL, while others collect."""
    stop = threading.Event()

    def collect():
        while not stop.is_set():
            gc.collect(0)

    def train(failed):
        x = gradus.ones(2000, requires_grad=True)
        try:
            for _ in range(200):
                y = x * 2
                y.register_hook(lambda grad: None if y is not None else grad)
                y.sum().backward()
        except Exception as error:
            failed.append(error)

    failed = []
    threads = [threading.Thread(target=train, args=(failed,)) for _ in range(3)]
    collector = threading.Thread(target=collect)
    collector.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    collector.join()
    assert failed == []


# A shell starts what runs in its background with interrupts ignored.
START = """
import signal
import gradus
signal.signal(signal.SIGINT, signal.default_int_handler)
from gradus import nn
print("started", flush=True)
try:
    {0}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
LOOPS = {
    "training": """
    m = nn.Linear(100, 100)
    sgd = gradus.optim.SGD(m.parameters(), lr=1e-3)
    x = gradus.rand(100, 100)
    while True:
        sgd.zero_grad()
        m(x).sum().backward()
        sgd.step()
""",
    "a loader": """
    data = gradus.utils.data.TensorDataset(gradus.rand(1000, 2))
    while True:
        for batch in gradus.utils.data.DataLoader(data, 2, shuffle=True):
            pass
""",
    "a backward pass with hooks": """
    import time
    x = gradus.ones(2, requires_grad=True)
    y = x
    for _ in range(100000):
        y = y + 1
        y.register_hook(lambda grad: time.sleep(0.01))
    y.sum().backward()
""",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_an_interrupt_ends_a_loop_between_two_operations(loop):
    program = subprocess.Popen([sys.executable, "-c", START.format(LOOPS[loop].strip())],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "started\n"
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("interrupted\n", "", 0)


def test_an_interrupt_ends_worker_processes(tmp_path):
    (tmp_path / "slow.py").write_text("""
import signal
import time
import gradus

class Slow(gradus.utils.data.Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        time.sleep(0.005)
        return gradus.ones(2)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for number, batch in enumerate(gradus.utils.data.DataLoader(Slow(), 4, num_workers=2)):
            if number == 20:
                print("started", flush=True)
                time.sleep(60)  # the workers have made what they may, and wait
    except KeyboardInterrupt:
        print("interrupted", flush=True)
""")
    program = subprocess.Popen([sys.executable, tmp_path / "slow.py"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert program.stdout.readline() == "started\n"
    time.sleep(1)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("interrupted\n", "", 0)


class Failing(gradus.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            raise LookupError("no example 5")
        return index


def test_an_error_of_a_worker_arrives_with_its_traceback():
    batches = iter(gradus.utils.data.DataLoader(Failing(), 2, num_workers=2))
    assert next(batches).tolist() == [0, 1] and next(batches).tolist() == [2, 3]
    with pytest.raises(LookupError) as caught:
        next(batches)
    text = str(caught.value)
    assert "no example 5" in text and "Traceback (most recent call last)" in text
    assert "in __getitem__" in text and "test_threads.py" in text


def test_a_python_without_a_gil_is_refused():
    program = "import sys; sys.abiflags += 't'; import gradus"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode != 0 and "ImportError: gradus" in done.stderr and "GIL" in done.stderr
