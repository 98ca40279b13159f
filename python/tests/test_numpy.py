"""gradus.numpy beside NumPy: names, keywords, dtypes and results."""

import numpy
import pytest

import gradus
import gradus.numpy as gnp

A = numpy.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.5]])
I = numpy.array([[3, 1, 2], [5, 4, 9]])
M = numpy.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]])
V = numpy.array([1.0, 2.0, 4.0])
Z = numpy.array([1.0 + 2j, 3.0 - 1j, -2.0 + 0.5j])

# (name, arguments, keywords): the same call of both.
CALLS = [
    ("add", (A, I), {}), ("subtract", (I, 1), {}), ("multiply", (I, 2.5), {}), ("divide", (I, I), {}),
    ("power", (A, 2), {}), ("mod", (I, 3), {}), ("negative", (I,), {}), ("absolute", (A,), {}), ("sign", (A,), {}),
    ("sqrt", (I,), {}), ("exp", (I,), {}), ("sin", (A,), {}), ("log", (I,), {}), ("floor", (A,), {}),
    ("maximum", (A, 1.0), {}), ("minimum", (A, A[::-1].copy()), {}), ("clip", (A, 0, 2), {}), ("degrees", (A,), {}),
    ("sum", (I,), {}), ("sum", (A,), {"axis": 0}), ("sum", (A,), {"axis": (0, 1), "keepdims": True}),
    ("sum", (A, 1), {}), ("mean", (I,), {}), ("mean", (I,), {"axis": 1}), ("prod", (A,), {"axis": 1}),
    ("max", (A,), {}), ("max", (A,), {"axis": 1, "keepdims": True}), ("amin", (I,), {"axis": 0}),
    ("std", (A,), {}), ("std", (I,), {"axis": 0}), ("var", (A,), {"axis": 1, "ddof": 1}), ("median", (I,), {}),
    ("median", (A,), {"axis": 1}), ("cumsum", (I,), {}), ("cumsum", (A,), {"axis": 1}), ("cumprod", (A,), {"axis": 0}),
    ("argmax", (A,), {}), ("argmin", (A,), {"axis": 1}), ("argsort", (A,), {"axis": 0}), ("sort", (A,), {}),
    ("sort", (A,), {"axis": None}), ("any", (A > 3,), {"axis": 0}), ("all", (A > -9,), {}),
    ("dot", (A, V), {}), ("dot", (V, V), {}), ("dot", (A, M), {}), ("dot", (2.0, A), {}),
    ("dot", (numpy.ones((2, 3, 3)), M), {}), ("dot", (numpy.ones((2, 3, 3)), V), {}), ("matmul", (I, I.T.copy()), {}),
    ("outer", (V, V), {}), ("inner", (A, A), {}), ("tensordot", (A, M, 1), {}), ("einsum", ("ij,jk->ik", A, M), {}),
    ("kron", (A, V), {}), ("trace", (M,), {}), ("diag", (V,), {}), ("cross", (V, V[::-1].copy()), {}),
    ("transpose", (A,), {}), ("transpose", (numpy.ones((2, 3, 4)), (1, 0, 2)), {}), ("reshape", (A, (3, 2)), {}),
    ("reshape", (A, -1), {}), ("ravel", (A,), {}), ("expand_dims", (A, 0), {}), ("squeeze", (A[None],), {"axis": 0}),
    ("swapaxes", (A, 0, 1), {}), ("moveaxis", (numpy.ones((2, 3, 4)), 0, -1), {}), ("flip", (A,), {}),
    ("flip", (A,), {"axis": 0}), ("roll", (A, 1), {"axis": 1}), ("roll", (A, 1), {}), ("tile", (V, (2, 1)), {}),
    ("repeat", (A, 2), {}), ("repeat", (A, 2), {"axis": 0}), ("broadcast_to", (V, (2, 3)), {}),
    ("concatenate", ([A, A],), {"axis": 1}), ("concatenate", ((A, I),), {}), ("stack", ([V, V],), {"axis": 1}),
    ("vstack", ([V, V],), {}), ("hstack", ([V, V],), {}), ("split", (A, 3), {"axis": 1}), ("array_split", (V, 2), {}),
    ("where", (A > 0, A, 0.0), {}), ("where", (A > 0, 1.0, 0.0), {}), ("where", (A > 0,), {}), ("nonzero", (A > 0,), {}),
    ("unique", (numpy.array([3, 1, 3]),), {}), ("isnan", (A,), {}), ("isclose", (A, A + 1e-12), {}),
    ("logical_and", (A > 0, A < 3), {}), ("invert", (I,), {}), ("left_shift", (I, 1), {}), ("tril", (M,), {}),
    ("zeros", (3,), {}), ("zeros", ((2, 3),), {"dtype": int}), ("ones", ((2,),), {"dtype": "float32"}),
    ("full", ((2, 2), 7), {}), ("full", (2, 0.5), {}), ("zeros_like", (I,), {}), ("ones_like", (A,), {}),
    ("full_like", (A, 2), {}), ("arange", (4,), {}), ("arange", (1, 2, 0.25), {}), ("linspace", (0, 1, 5), {}),
    ("linspace", (0, 1), {"num": 4, "endpoint": False}), ("logspace", (0, 2, 3), {}), ("eye", (3,), {}),
    ("eye", (2, 3), {"k": 1}), ("identity", (2,), {}), ("array", ([1, 2.5],), {}), ("array", ([True, False],), {}),
    ("array", ([[1], [2]],), {"dtype": numpy.float32}), ("array", ([1j, 2],), {}), ("asarray", (3,), {}),
    ("meshgrid", (V, V[:2]), {}), ("meshgrid", (V, V[:2]), {"indexing": "ij"}), ("real", (Z,), {}),
    ("linalg.norm", (A,), {}), ("linalg.norm", (A,), {"axis": 1}), ("linalg.norm", (I,), {}), ("linalg.inv", (M,), {}),
    ("linalg.det", (M,), {}), ("linalg.eigvalsh", (M,), {}), ("linalg.solve", (M, V), {}), ("linalg.cholesky", (M,), {}),
    ("linalg.matrix_rank", (M,), {}), ("linalg.pinv", (A,), {}), ("linalg.slogdet", (M,), {}),
    ("fft.fft", (V,), {}), ("fft.fft", (Z,), {"n": 5}), ("fft.ifft", (Z,), {}), ("fft.rfft", (A,), {"axis": 0}),
    ("fft.fft2", (A,), {}), ("fft.fftn", (A,), {"axes": (0,)}), ("fft.fft", (I,), {"norm": "ortho"}),
    ("fft.fftfreq", (5,), {"d": 0.5}), ("fft.fftshift", (V,), {}),
]


def member(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def compare(ours, theirs):
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for each in zip(ours, theirs):
            compare(*each)
        return
    theirs = numpy.asarray(theirs)
    assert tuple(ours.shape) == theirs.shape
    assert str(ours.dtype) == f"gradus.{theirs.dtype}"
    assert numpy.allclose(ours.numpy(), theirs, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name, args, kwargs", CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_call_gives_what_numpy_gives(name, args, kwargs):
    compare(member(gnp, name)(*args, **kwargs), member(numpy, name)(*args, **kwargs))


def test_lists_and_tensors_are_arrays():
    assert gnp.sum([[1, 2], [3, 4]], axis=1).tolist() == [3, 7]
    assert gnp.sqrt([4.0, 9.0]).dtype == gnp.float64
    x = gradus.ones(3)
    assert gnp.asarray(x) is x and gnp.array(x) is not x
    assert gnp.sqrt(x).dtype == gnp.float32
    assert gnp.array([x, 2 * x]).tolist() == [[1, 1, 1], [2, 2, 2]]
    array = numpy.zeros(3)
    gnp.asarray(array)[0] = 1
    assert array[0] == 1
    gnp.array(array)[1] = 1
    assert array[1] == 0
    assert gnp.asnumpy(gnp.ones(2)).dtype == numpy.float64
    assert gnp.shape([[1, 2, 3]]) == (1, 3) and gnp.ndim(1.5) == 0 and gnp.size([[1, 2, 3]], 1) == 3
    assert gnp.array_equal([1, 2], gnp.array([1, 2])) is True
    assert gnp.astype(gnp.ones(2), "int32").dtype == gnp.int32 and gnp.copy([1]).tolist() == [1]
    assert gnp.pi == numpy.pi and gnp.newaxis is None and gnp.ndarray is gradus.Tensor


def test_gradients_go_through():
    x = gnp.array([1.0, 2.0]).requires_grad_()
    gnp.sum(gnp.power(x, 3), axis=0).backward()
    assert x.grad.tolist() == [3, 12]


def test_random_numbers():
    gnp.random.seed(0)
    first = gnp.random.rand(2, 3)
    gnp.random.seed(0)
    assert gnp.array_equal(first, gnp.random.random((2, 3))) and first.dtype == gnp.float64
    assert gnp.random.randn(4).shape == (4,) and isinstance(gnp.random.rand(), float)
    assert isinstance(gnp.random.randint(5), int)
    integers = gnp.random.randint(2, 5, (100,))
    assert integers.dtype == gnp.int64 and set(integers.tolist()) == {2, 3, 4}
    assert 2 <= float(gnp.random.uniform(2, 3, 50).min()) and float(gnp.random.normal(9, 0.1, 50).mean()) > 8
    assert sorted(gnp.random.permutation(5).tolist()) == list(range(5))
    assert gnp.random.permutation(A).shape == A.shape
    assert sorted(gnp.random.choice(5, 5, replace=False).tolist()) == list(range(5))
    assert gnp.random.choice([7.0, 8.0]) in (7, 8)
    rng, again = gnp.random.default_rng(3), gnp.random.default_rng(3)
    assert rng.integers(10, size=8).tolist() == again.integers(10, size=8).tolist()
    assert rng.normal(size=2).tolist() == again.normal(size=2).tolist()
    with pytest.raises(gradus.ValueError, match="6 different elements of 5"):
        gnp.random.choice(5, 6, replace=False)


def test_errors():
    with pytest.raises(gradus.TypeError, match="object of type dict is no array"):
        gnp.asarray({})
    with pytest.raises(gradus.TypeError, match="no dtype; expected one of bool"):
        gnp.zeros(3, dtype="float31")
    with pytest.raises(IndexError):
        gnp.sum(A, axis=2)
    with pytest.raises(gradus.ValueError, match="2 parts of dimension 1 of size 3"):
        gnp.split(A, 2, axis=1)
    with pytest.raises(TypeError):
        gnp.where(A > 0, A)
    with pytest.raises(TypeError):
        gnp.sum(A, no_such_argument=1)


@pytest.mark.skipif(not gradus.cuda.is_available(), reason="there is no GPU")
def test_arrays_of_cupy_are_on_a_gpu():
    import gradus.cupy as cp

    for x in (cp.array([1.0]), cp.zeros(2), cp.arange(3), cp.asarray(A), cp.random.rand(2), cp.eye(2), cp.full(2, 7),
              cp.sum([1, 2]), cp.add(A, A), cp.asarray(gradus.ones(2)), cp.random.default_rng(1).random(2)):
        assert x.is_cuda
    assert numpy.allclose(cp.asnumpy(cp.linalg.inv(M)), numpy.linalg.inv(M))
    assert numpy.allclose(cp.asnumpy(cp.fft.fft(V)), numpy.fft.fft(V))
    assert gnp.sum(cp.ones(3)).is_cuda  # a tensor stays where it is
