"""Memory shared with NumPy, by DLPack and by the array interface."""

import subprocess
import sys

import numpy as np
import pytest

import gradus

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
          "complex64", "complex128"]


def shapes(x):
    yield x
    yield x.T
    yield x[1:, ::2]
    yield x[:0]
    yield x[0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_shares_memory(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    for a in shapes(array):
        x = gradus.from_numpy(np.asarray(a))
        assert x.shape == a.shape and str(x.dtype) == f"gradus.{dtype}"
        assert x.tolist() == a.tolist()
    x = gradus.from_numpy(array)
    assert x.data_ptr() == array.ctypes.data
    array[0, 0] = 1
    assert x[0, 0].item() == 1
    for y in shapes(x):
        b = y.numpy()
        assert b.dtype == dtype and b.shape == y.shape and b.tolist() == y.tolist()
        if b.size:
            assert b.ctypes.data == y.data_ptr()
    back = x.numpy()
    back[0, 1] = 0
    assert not x[0, 1].item()
    assert np.asarray(x).dtype == dtype and (np.asarray(x) == array).all()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not d.startswith("complex")])
def test_dlpack_shares_memory(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    for a in shapes(array):
        if not isinstance(a, np.ndarray):
            continue
        x = gradus.from_dlpack(a)
        assert x.tolist() == a.tolist()
        if a.size:
            assert x.data_ptr() == a.ctypes.data
    x = gradus.from_numpy(array)
    for y in shapes(x):
        b = np.from_dlpack(y)
        assert b.tolist() == y.tolist()
        if b.size:
            assert b.ctypes.data == y.data_ptr()
        again = gradus.from_dlpack(y)
        assert y.numel() == 0 or again.data_ptr() == y.data_ptr()


def test_dlpack_says_what_it_cannot():
    x = gradus.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="detach"):
        x.__dlpack__()
    with pytest.raises(BufferError):
        x.detach().__dlpack__(stream=1)
    assert x.detach().__dlpack_device__() == (1, 0)
    capsule = x.detach().__dlpack__()
    gradus.from_dlpack(capsule)
    with pytest.raises(ValueError, match="consumed"):
        gradus.from_dlpack(capsule)
    copied = gradus.from_dlpack(x.detach().__dlpack__(copy=True))
    assert copied.data_ptr() != x.data_ptr()


def test_memory_is_freed_once():
    counts = []

    class Array(np.ndarray):
        def __del__(self):
            counts.append(1)

    array = np.ones(4).view(Array)
    x = gradus.from_dlpack(array)
    y = x + 1
    z = x[1:]
    del array, x
    assert counts == []
    del z
    assert counts == [1]
    unused = gradus.ones(3).__dlpack__()
    del unused


def test_arrays_become_tensors():
    assert gradus.tensor(np.float32(2.5)).item() == 2.5
    assert gradus.tensor([np.int64(1), np.int64(2)]).tolist() == [1, 2]
    assert gradus.tensor(np.eye(2)).dtype is gradus.float64
    assert gradus.tensor([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    array = np.ones(3, dtype=np.float32)
    assert gradus.as_tensor(array).data_ptr() == array.ctypes.data
    assert gradus.tensor(array).data_ptr() != array.ctypes.data
    with pytest.raises(TypeError, match="datetime|M8"):
        gradus.from_numpy(np.array(["2020-01-01"], dtype="datetime64[D]"))
    with pytest.raises(ValueError, match="negative"):
        gradus.from_numpy(array[::-1])
    with pytest.raises(TypeError):
        gradus.ones(2, dtype=gradus.bfloat16).numpy()
    with pytest.raises(RuntimeError, match="detach"):
        gradus.ones(2, requires_grad=True).numpy()


def test_numpy_is_not_imported():
    program = "import gradus, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_a_program_with_live_objects_ends_without_a_message():
    program = """
import gradus
net = gradus.nn.Sequential(gradus.nn.Linear(2, 2), gradus.nn.ReLU())
sgd = gradus.optim.SGD(net.parameters(), lr=0.1)
x = gradus.rand(3, 2, requires_grad=True)
x.register_hook(lambda grad: grad)
net(x).sum().backward()
kept = x.grad
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
