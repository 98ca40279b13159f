"""DLPack with NumPy, PyTorch and CuPy: every common dtype and layout, both ways, and what is refused.

PyTorch's cases run where it can be imported: PYTHONPATH=build/python:/usr/lib/python3/dist-packages
finds Debian's. Those on a GPU need one, and CuPy or a PyTorch that sees it."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import gradus

try:
    import torch
except ImportError:
    torch = None
HAS_GPU = gradus.cuda.is_available() and not gradus.sim.is_available()
try:
    import cupy
except ImportError:
    cupy = None

LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "sliced": lambda x: x[1:, ::2],
    "empty": lambda x: x[:0],
    "0-dim": lambda x: x[0, 1],
    "broadcast": None,
}
NUMPY = ["bool"] * (np.lib.NumpyVersion(np.__version__) >= "1.25.0") + ["uint8", "int8", "int16",
         "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
TORCH = [name for name in NUMPY if name != "bool"] + ["bfloat16"]
if torch and not torch.__version__.startswith("1."):
    TORCH.append("bool")


class Numpy:
    """NumPy as a partner: how its arrays are made, read and written."""

    lacks, device = "", "cpu"
    dtypes = NUMPY
    array = staticmethod(lambda dtype: np.arange(12).reshape(3, 4).astype(dtype))
    # A number of an array is no array; 0-dim is a view.
    layout = staticmethod(lambda name, x: x[0:1, 1].reshape(()) if name == "0-dim" else
                          np.lib.stride_tricks.as_strided(x, (3, 4), (0, x.strides[1]))
                          if name == "broadcast" else LAYOUTS[name](x))
    take = staticmethod(np.from_dlpack)
    pointer = staticmethod(lambda x: x.ctypes.data)
    values = staticmethod(lambda x: x.tolist())
    strides = staticmethod(lambda x: [s // x.itemsize for s in x.strides])


class Torch:
    """PyTorch as a partner."""

    lacks, device = "" if torch else "PyTorch cannot be imported", "cpu"
    dtypes = TORCH
    array = staticmethod(lambda dtype: torch.arange(12).reshape(3, 4).to(getattr(torch, dtype)))
    layout = staticmethod(lambda name, x: x[:1].expand(3, 4) if name == "broadcast" else
                          LAYOUTS[name](x))
    take = staticmethod(lambda x: torch.from_dlpack(x))
    pointer = staticmethod(lambda x: x.data_ptr())
    values = staticmethod(lambda x: x.tolist())
    strides = staticmethod(lambda x: list(x.stride()))


class TorchOnGpu(Torch):
    """PyTorch as a partner, on a GPU."""

    lacks, device = "" if HAS_GPU and torch and torch.cuda.is_available() else "no GPU that PyTorch sees", "cuda"
    array = staticmethod(lambda dtype: Torch.array(dtype).cuda())


class Cupy:
    """CuPy as a partner."""

    lacks, device = "" if HAS_GPU and cupy else "no GPU, or CuPy cannot be imported", "cuda"
    dtypes = ["bool", *(name for name in NUMPY if name != "bool")]
    array = staticmethod(lambda dtype: cupy.arange(12).reshape(3, 4).astype(dtype))
    layout = staticmethod(lambda name, x: cupy.lib.stride_tricks.as_strided(x, (3, 4), (0, x.strides[1]))
                          if name == "broadcast" else LAYOUTS[name](x))
    take = staticmethod(lambda x: cupy.from_dlpack(x))
    pointer = staticmethod(lambda x: x.data.ptr)
    values = staticmethod(lambda x: x.tolist())
    strides = staticmethod(lambda x: [s // x.itemsize for s in x.strides])


def own_layout(name, x):
    return x[:1].expand(3, 4) if name == "broadcast" else LAYOUTS[name](x)


CASES = [pytest.param(kind, dtype, layout, id=f"{kind.__name__}-{dtype}-{layout}",
                      marks=pytest.mark.skip(reason=kind.lacks) if kind.lacks else ())
         for kind in (Numpy, Torch, TorchOnGpu, Cupy) for dtype in kind.dtypes for layout in LAYOUTS]


@pytest.mark.parametrize("kind, dtype, layout", CASES)
def test_a_tensor_of_another_library(kind, dtype, layout):
    base = kind.array(dtype)
    theirs = kind.layout(layout, base)
    ours = gradus.from_dlpack(theirs)
    assert str(ours.dtype) == f"gradus.{dtype}" and ours.tolist() == kind.values(theirs)
    if not ours.numel():
        return
    assert ours.data_ptr() == kind.pointer(theirs)
    if ours.dim():
        assert list(ours.stride()) == kind.strides(theirs)
    base[0, 1] = 1
    base[1, 2] = 0
    assert ours.tolist() == kind.values(theirs)
    if layout != "broadcast":
        ours.fill_(1)
        assert kind.values(theirs) == ours.tolist() == gradus.ones_like(ours).tolist()


@pytest.mark.parametrize("kind, dtype, layout", CASES)
def test_a_tensor_for_another_library(kind, dtype, layout):
    base = gradus.arange(12, device=kind.device).reshape(3, 4).to(getattr(gradus, dtype))
    ours = own_layout(layout, base)
    theirs = kind.take(ours)
    assert kind.values(theirs) == ours.tolist()
    if not ours.numel():
        return
    assert ours.data_ptr() == kind.pointer(theirs)
    base[0, 1] = 1
    base[1, 2] = 0
    assert kind.values(theirs) == ours.tolist()
    again = gradus.from_dlpack(theirs) if kind is not Numpy or theirs.flags.writeable else None
    assert again is None or again.data_ptr() == ours.data_ptr()


class Counted:
    """A producer that counts how often the deleter of its capsules is called."""

    def __init__(self, tensor):
        self.tensor, self.calls, self.asked = tensor, [], []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        return self.tensor.__dlpack__(**arguments)


def test_the_deleter_is_called_once_in_each_order():
    class Array(np.ndarray):
        pass

    def array():
        out = np.ones(4).view(Array)
        return out, weakref.ref(out)

    a, seen = array()
    x = gradus.from_dlpack(a)
    del a
    view = x[1:]
    del x
    gc.collect()
    assert seen() is not None and view.tolist() == [1, 1, 1]
    del view
    assert seen() is None

    a, seen = array()
    capsule = gradus.from_dlpack(a).__dlpack__(max_version=(1, 0))
    del a
    assert seen() is not None
    del capsule  # unused: its deleter is called by the capsule
    assert seen() is None

    a, seen = array()
    capsule = gradus.from_dlpack(a).__dlpack__()
    del a
    x = gradus.from_dlpack(capsule)
    del capsule  # used: by the tensor
    assert seen() is not None
    del x
    assert seen() is None


def capsule_name(capsule):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name(capsule)


def test_capsules_of_each_version():
    x = gradus.ones(2)
    assert capsule_name(x.__dlpack__()) == b"dltensor"
    assert capsule_name(x.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert capsule_name(x.__dlpack__(max_version=(1, 0))) == b"dltensor_versioned"
    assert capsule_name(x.__dlpack__(max_version=(9, 3))) == b"dltensor_versioned"
    for arguments in ({}, {"max_version": (1, 0)}):
        capsule = x.__dlpack__(**arguments)
        y = gradus.from_dlpack(capsule)
        assert y.data_ptr() == x.data_ptr() and capsule_name(capsule).startswith(b"used_dltensor")
        with pytest.raises(ValueError, match="consumed"):
            gradus.from_dlpack(capsule)


class Versioned(ctypes.Structure):
    """The head of a DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


def managed(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Versioned.from_address(get(capsule, b"dltensor_versioned"))


def test_flags():
    x = gradus.ones(2)
    capsule = x.__dlpack__(max_version=(1, 0))
    assert (managed(capsule).major, managed(capsule).flags) == (1, 0)
    assert managed(x.__dlpack__(max_version=(1, 0), copy=True)).flags == 2
    managed(capsule).flags = 1
    with pytest.raises(gradus.Error, match="only to be read"):
        gradus.from_dlpack(capsule)
    managed(capsule).flags, managed(capsule).major = 0, 2
    with pytest.raises(gradus.Error, match="version 2"):
        gradus.from_dlpack(capsule)
    managed(capsule).major = 1
    assert gradus.from_dlpack(capsule).tolist() == [1, 1]
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.raises((BufferError, gradus.Error)):
        gradus.from_dlpack(array)


def test_a_copy_is_one():
    x = gradus.ones(2)
    for y in (gradus.from_dlpack(x.__dlpack__(copy=True)), gradus.from_dlpack(x, copy=True),
              gradus.from_dlpack(Counted(x), copy=True)):
        assert y.data_ptr() != x.data_ptr() and y.tolist() == [1, 1]
    for copy in (None, False):
        assert gradus.from_dlpack(x.__dlpack__(copy=copy)).data_ptr() == x.data_ptr()
        assert gradus.from_dlpack(x, copy=copy).data_ptr() == x.data_ptr()


def test_devices_and_streams():
    x = gradus.ones(2)
    assert x.__dlpack_device__() == (1, 0)
    assert gradus.from_dlpack(x.__dlpack__(dl_device=(1, 0))).data_ptr() == x.data_ptr()
    assert gradus.from_dlpack(x.__dlpack__(stream=-1)).data_ptr() == x.data_ptr()
    with pytest.raises(BufferError, match="another device"):
        x.__dlpack__(dl_device=(2, 0))
    for stream in (0, 1, 2, 12345):
        with pytest.raises(BufferError, match="no stream"):
            x.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        gradus.from_dlpack(3)
    with pytest.raises(BufferError, match="meta"):
        gradus.ones(2, device="meta").__dlpack__()
    assert gradus.from_dlpack(x, device="cpu").data_ptr() == x.data_ptr()


@pytest.mark.skipif(not gradus.cuda.is_available(), reason="no GPU and no simulated device")
def test_streams_of_a_gpu():
    x = gradus.ones(2, device="cuda")
    assert x.__dlpack_device__() == (2, 0)
    other = gradus.cuda.Stream()
    for stream in (None, 1, -1, other.cuda_stream):
        assert gradus.from_dlpack(x.__dlpack__(stream=stream)).data_ptr() == x.data_ptr()
    with pytest.raises(BufferError, match="ambiguous"):
        x.__dlpack__(stream=0)
    with pytest.raises(TypeError, match="stream"):
        x.__dlpack__(stream="1")
    with gradus.cuda.stream(other):
        y = gradus.from_dlpack(Counted(x))
    assert y.data_ptr() == x.data_ptr()
    producer = Counted(x)
    gradus.from_dlpack(producer)
    assert "stream" in producer.asked[0] and producer.asked[0]["stream"] not in (None, 0)
    on_cpu = gradus.from_dlpack(x.__dlpack__(dl_device=(1, 0)))
    assert on_cpu.device.type == "cpu" and on_cpu.tolist() == [1, 1]
    with pytest.raises(BufferError, match="copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError, match="copy"):
        gradus.from_dlpack(x, device="cpu", copy=False)


def test_a_tensor_that_requires_grad_is_not_exported():
    x = gradus.ones(2, requires_grad=True)
    for y in (x, x * 2):
        with pytest.raises(BufferError, match="detach"):
            y.__dlpack__()
    assert gradus.from_dlpack(x.detach()).data_ptr() == x.data_ptr()


def test_complex_views_are_exported_with_their_values():
    z = gradus.tensor([1 + 2j, 3 - 4j])
    assert np.from_dlpack(z.real).tolist() == [1, 3] and np.from_dlpack(z.imag).tolist() == [2, -4]
    assert np.from_dlpack(z.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert np.from_dlpack(-z.imag).tolist() == [-2, 4]


def test_producers_of_the_time_before_versions():
    class Old:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, stream=None):
            return self.tensor.__dlpack__()

    x = gradus.ones(2)
    assert gradus.from_dlpack(Old(x)).data_ptr() == x.data_ptr()
    assert gradus.from_dlpack(Old(x), copy=True).data_ptr() != x.data_ptr()

    class Failing(Old):
        def __dlpack__(self, **arguments):
            raise BufferError("mine")

    with pytest.raises(BufferError, match="mine"):
        gradus.from_dlpack(Failing(x))
