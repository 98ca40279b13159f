"""gradus.numpy beside NumPy: names, keywords, dtypes and results."""

import copy
import pickle

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
    ("unique", (numpy.array([3, 1, 3]),), {}), ("unique_counts", (numpy.array([3, 1, 3]),), {}),
    ("unique_inverse", (numpy.array([3, 1, 3]),), {}), ("take", (A, [2, -1]), {"axis": 1}), ("take", (A, [[0, 5]]), {}),
    ("broadcast_arrays", (A, V), {}), ("unstack", (A,), {"axis": 1}), ("vecdot", (A, V), {}), ("vecdot", (I, V), {}),
    ("ptp", (A,), {"axis": 0}), ("average", (I,), {}), ("average", (A,), {"axis": 1, "weights": V}),
    ("percentile", (A, 30), {}), ("percentile", (I, [25, 50]), {"axis": 1}), ("cumulative_prod", (V,), {"axis": 0}),
    ("rint", (A,), {}), ("fabs", (A,), {}), ("take_along_axis", (A, numpy.array([[1], [2]])), {"axis": 1}),
    ("linalg.matrix_transpose", (A,), {}), ("linalg.tensordot", (A, M), {"axes": 1}), ("count_nonzero", (A > 0,), {"axis": 1}),
    ("round", (A,), {}), ("searchsorted", (V, numpy.array([1.5, 9])), {}), ("isnan", (A,), {}), ("isclose", (A, A + 1e-12), {}),
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

S = numpy.array([0.5, 2.0, 2.0, -1.0, 3.0, 7.5], numpy.float32)
N = numpy.array([[1.0, numpy.nan, 3.0], [numpy.nan, numpy.nan, numpy.nan]])
R = numpy.array([3, 1, 3, 2, 1])
CALLS += [
    ("multiply", (S, numpy.arange(6)), {}), ("add", (S, numpy.arange(6, dtype=numpy.int16)), {}), ("maximum", (0.0, S), {}),
    ("add", (S, 1.0), {}), ("power", (2, S), {}), ("multiply", (I, 2j), {}), ("concatenate", ([S, R],), {}), ("floor_divide", (I, 1.5), {}),
    ("where", (S > 0, S, numpy.arange(6)), {}), ("where", (S > 0, S, 0.5), {}), ("average", (S,), {"weights": numpy.arange(6)}),
    ("matmul", (S, numpy.arange(6)), {}), ("dot", (S, 2), {}), ("clip", (S, 0, 2.5), {}), ("result_type", (S, R), {}),
    ("histogram", (S,), {}), ("histogram", (R,), {"bins": [0, 2, 3]}), ("histogram", (S, 4), {"range": (0, 4), "density": True}),
    ("histogram", (R, 2), {"weights": numpy.arange(5) / 2}), ("histogram", (numpy.array([]),), {"bins": 3}),
    ("gradient", (V,), {}), ("gradient", (A,), {}), ("gradient", (I,), {"axis": 1}), ("gradient", (V, 0.5), {"edge_order": 2}),
    ("gradient", (V ** 2, V), {}), ("gradient", (A, 2.0, V), {}), ("gradient", (A, 2.0), {"axis": (0, 1)}),
    ("linalg.lstsq", (M[:, :2], V), {}), ("linalg.lstsq", (M[:, :2], M), {}), ("linalg.lstsq", (A, V[:2]), {}),
    ("linalg.lstsq", (numpy.ones((3, 2)), V), {}), ("linalg.lstsq", (I.T, R[:3]), {"rcond": 1e-3}),
    ("unique", (R,), {"return_counts": True}), ("unique", (I,), {"return_index": True, "return_inverse": True}),
    ("unique", (R,), {"return_index": True, "return_inverse": True, "return_counts": True}),
    ("unique", (numpy.array([[1, 2], [0, 1], [1, 2]]),), {"axis": 0, "return_inverse": True, "return_index": True}),
    ("unique", (numpy.array([[1, 1, 0], [2, 2, 1]]),), {"axis": 1, "return_counts": True}),
    ("pad", (V, 1), {}), ("pad", (I, ((1, 0), (0, 1))), {}), ("pad", (V, (2, 4)), {"mode": "edge"}), ("pad", (I, 3), {"mode": "reflect"}),
    ("pad", (I, 3), {"mode": "symmetric"}), ("pad", (V, (4, 5)), {"mode": "wrap"}), ("pad", (I, ((1, 2),)), {"constant_values": 7}),
    ("pad", (V, 2), {"constant_values": (1, 2)}), ("bincount", (R,), {}), ("bincount", (R,), {"minlength": 6}),
    ("bincount", (R,), {"weights": [1, 2, 3, 4, 5]}), ("argsort", (R,), {"kind": "stable"}), ("argsort", (A,), {"axis": None}),
    ("sort", (A,), {"kind": "quicksort"}), ("einsum", ("ij,jk->ik", A, M), {"optimize": True}), ("array", ([1, 2],), {"ndmin": 2}),
    ("array", ([1, 2],), {"dtype": "f4"}), ("zeros", (2,), {"dtype": "<i2"}), ("zeros", (2,), {"dtype": "complex"}),
    ("triu_indices", (3, 1), {}), ("triu_indices", (3,), {"m": 4}), ("tril_indices", (2,), {}), ("tril_indices", (3, -1, 2), {}),
    ("float32", (1.5,), {}), ("int64", (2,), {}), ("float64", ([1, 2],), {}), ("intp", (3,), {}),
    ("append", (V, [1, 2]), {}), ("append", (I, [[1, 2, 3]]), {"axis": 0}), ("append", (I, 1.5), {}),
    ("insert", (V, 1, 9), {}), ("insert", (V, -1, [7, 8]), {}), ("insert", (V, [0, 2], [7, 8]), {}), ("insert", (I, 1, 5), {"axis": 1}),
    ("insert", (I, 1, [1, 2]), {"axis": 1}), ("insert", (I, [1], [[1], [2]]), {"axis": 1}), ("insert", (I, [2, 2, 0], 5), {"axis": 1}),
    ("insert", (V, slice(0, 2), 5), {}), ("insert", (V, 3, 5.5), {}), ("insert", (I, 1, [1, 2, 3]), {"axis": 0}),
    ("insert", (I, [0, 1], [[1, 2, 3], [4, 5, 6]]), {"axis": 0}), ("insert", (I, [0, 1], [[1, 2], [4, 5]]), {"axis": 1}),
    ("delete", (V, 1), {}), ("delete", (I, [0, -1]), {"axis": 1}), ("delete", (I, slice(None, None, 2)), {"axis": 1}),
    ("delete", (I, 3), {}), ("delete", (V, numpy.array([True, False, True])), {}),
    ("block", ([[A, A], [I, I]],), {}), ("block", ([V, 1],), {}), ("block", ([[1, 2], [3, 4]],), {}), ("block", (V,), {}),
    ("ix_", ([0, 1], [2]), {}), ("ix_", ([True, False, True], [1]), {}), ("indices", ((2, 3),), {}),
    ("interp", ([0.5, 1.5, 9.0, -1.0, 4.0, numpy.nan], V, [1, 3, 2]), {}), ("interp", (3, V, V), {"left": 0, "right": 5}),
    ("interp", ([0, 5], V, V), {"left": -1, "right": 7}), ("convolve", (V, [1, 0.5]), {}), ("convolve", (R, [1, 2]), {"mode": "same"}),
    ("convolve", ([1, 2], R), {"mode": "valid"}), ("convolve", (V, V), {"mode": "same"}), ("correlate", (R, [1, 2]), {}),
    ("correlate", (V, [0, 1, 0.5]), {"mode": "full"}), ("correlate", ([1, 2], R), {}),
    ("polyfit", (S, S ** 2 + 1, 2), {}), ("polyfit", (V, A.T, 1), {}),
    ("polyval", ([2, 1, 3], V), {}), ("polyval", ([2, 1], 3), {}), ("digitize", (S, [0, 2, 5]), {}),
    ("digitize", (S, [0.0, 2.0, 5.0]), {"right": True}), ("digitize", (S, [5, 2, 0]), {}), ("digitize", (S, [5, 2, 0]), {"right": True}),
    ("flatnonzero", (A > 0,), {}), ("nanmax", (N,), {}), ("nanmin", (N,), {}), ("nanmax", (N[:1],), {"axis": 1, "keepdims": True}),
    ("nanmin", (I,), {"axis": 0}), ("partition", (R, 1), {}), ("intersect1d", (R, [1, 2, 9]), {}), ("union1d", (R, [1.5]), {}),
    ("setdiff1d", (R, [1]), {}), ("apply_along_axis", (lambda x: x.sum(), 0, A), {}), ("apply_along_axis", (lambda x: x * 2, 0, A), {}),
    ("unravel_index", (4, (2, 3)), {}), ("unravel_index", (numpy.array([4, 5]), (2, 3)), {}),
    ("ravel_multi_index", (([0, 1], [2, 0]), (2, 3)), {}), ("ascontiguousarray", (A.T,), {}), ("ascontiguousarray", (2,), {}),
    ("cbrt", (numpy.array([27.0, -64.0, 0.0, numpy.inf]),), {}), ("geomspace", (1, 1000, 4), {}),
    ("geomspace", (1, 256, 8), {"endpoint": False}),
    ("geomspace", (-1, -100, 3), {}), ("tri", (2, 3), {"k": 1}), ("hamming", (5,), {}), ("hanning", (4,), {}), ("blackman", (6,), {}),
    ("bartlett", (5,), {}), ("kaiser", (5, 2.0), {}), ("add.reduce", (I,), {}), ("multiply.reduce", (A,), {"axis": 1}),
    ("maximum.reduce", (A,), {"axis": None}), ("logical_or.reduce", (A > 3,), {}), ("add.accumulate", (I,), {"axis": 1}),
    ("maximum.accumulate", (A,), {}), ("subtract.outer", (V, I), {}), ("multiply.outer", (V, V), {}), ("array_equal", (V, [1, 2, 4]), {}),
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
    if isinstance(theirs, numpy.dtype):
        assert str(ours) == f"gradus.{theirs}"
        return
    theirs = numpy.asarray(theirs)
    ours = ours if isinstance(ours, gradus.Tensor) else gradus.from_numpy(numpy.asarray(ours, theirs.dtype))
    assert tuple(ours.shape) == theirs.shape
    assert str(ours.dtype) == f"gradus.{theirs.dtype}"
    assert numpy.allclose(ours.numpy(), theirs, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name, args, kwargs", CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_a_call_gives_what_numpy_gives(name, args, kwargs):
    compare(member(gnp, name)(*args, **kwargs), member(numpy, name)(*args, **kwargs))


OPERATORS = [
    lambda np: np.arange(3) / 2, lambda np: np.arange(3) * 0.5, lambda np: np.array([1, 2]) + 1.5, lambda np: 1.5 - np.arange(3),
    lambda np: 2 / np.arange(1, 4), lambda np: np.arange(3, dtype="int32") * 0.5, lambda np: np.arange(3, dtype="int8") / np.arange(1, 4),
    lambda np: np.ones(3, dtype="float32") * np.arange(3), lambda np: np.arange(3) * np.ones(3, dtype="f4"),
    lambda np: np.ones(3, dtype="f4") + np.arange(3, dtype="int16"), lambda np: np.ones(3, dtype="f2") + np.arange(3, dtype="int8"),
    lambda np: np.ones(3, dtype="f4") * 0.5, lambda np: np.ones(3, dtype="f4") * 2, lambda np: np.ones(3, dtype="f4") * 2j,
    lambda np: np.ones(3, dtype="f4") * np.array(2.0), lambda np: np.ones(3, dtype="f4") * np.float64(2), lambda np: np.arange(3) * 2j,
    lambda np: np.array([True, False]) + 1, lambda np: np.array([True, False]) * 0.5, lambda np: np.array([True]) / np.array([True]),
    lambda np: np.arange(3) + [1, 2, 3], lambda np: [1.5, 2, 3] * np.arange(3), lambda np: np.ones((2, 2)) @ [1, 2],
    lambda np: np.arange(3) ** 2,
    lambda np: np.arange(3) ** 0.5, lambda np: 2 ** np.arange(3), lambda np: np.arange(5) // 2, lambda np: np.arange(5) % 1.5,
    lambda np: np.arange(3) > 0.5, lambda np: np.arange(3) == [0, 2, 2], lambda np: np.arange(3) & 1, lambda np: ~np.arange(3),
    lambda np: np.arange(6).reshape(2, 3) / 2, lambda np: np.arange(6)[2:] / 2, lambda np: np.arange(6).reshape(2, 3).T / 2,
    lambda np: np.sum(np.arange(3)) / 2, lambda np: np.linspace(0, 1, 3) + np.arange(3, dtype="int32"),
    lambda np: next(iter(np.arange(3))) / 2,
    lambda np: np.unique(np.array([3, 1]), return_counts=True)[1] / 2, lambda np: np.float32(1.5) * np.arange(3),
    lambda np: -np.arange(3) / 2,
    lambda np: np.r_[1:4, 0, [5, 6]], lambda np: np.r_[0:1:3j, 2], lambda np: np.r_[np.ones(2), 0], lambda np: np.c_[[1, 2], [3, 4]],
    lambda np: np.c_[np.ones((2, 2)), [0, 1]], lambda np: np.mgrid[0:2, 1:4], lambda np: np.mgrid[0:1:5j], lambda np: np.mgrid[0:1:3j, 0:2],
    lambda np: np.ogrid[0:2, 0:3], lambda np: np.vectorize(lambda a, b: a + 2 * b)([1, 2], [[1], [2]]),
    lambda np: np.vectorize(lambda x: x > 1, otypes=[bool])([1, 2]), lambda np: [np.iinfo(np.int32).max, np.iinfo("int8").min],
    lambda np: np.finfo(np.float32).eps,
]


@pytest.mark.parametrize("expression", OPERATORS)
def test_an_expression_gives_what_numpy_gives(expression):
    compare(expression(gnp), expression(numpy))


CHANGES = [
    lambda np, a: np.put(a, [0, -1], [9]), lambda np, a: np.put(a, [[0, 1], [2, 3]], [7, 8]), lambda np, a: np.put(a, 1, 5),
    lambda np, a: np.put_along_axis(a, np.array([[2], [0]]), 9, 1), lambda np, a: np.putmask(a, a > 3, [10, 20]),
    lambda np, a: np.copyto(a, [1, 2, 3]), lambda np, a: np.copyto(a, 0, where=a > 3), lambda np, a: np.fill_diagonal(a, 7),
    lambda np, a: np.fill_diagonal(a, [7, 8]), lambda np, a: np.add.at(a, ([0, 0, 1], [1, 1, 2]), 5), lambda np, a: a.__iadd__([1, 2, 3]),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_in_the_array(change):
    ours, theirs = gnp.array(I), I.copy()
    change(gnp, ours)
    change(numpy, theirs)
    assert ours.tolist() == theirs.tolist() != I.tolist()


def test_arrays_are_tensors_that_stay_arrays():
    x = gnp.array([1.0, 2.0])
    assert all(type(each) is gnp.ndarray for each in (
        x, x + 1, x[0], x.sum(), x.T, x.double(), *x, copy.deepcopy(x), pickle.loads(pickle.dumps(x))))
    assert f"{x[0]:.2f}" == "1.00" and repr(x) == repr(gradus.tensor([1.0, 2.0], dtype=gradus.float64))
    plain = gradus.arange(3)
    assert gnp.astype(plain, int, copy=False) is plain and type(plain) is gradus.Tensor and (plain / 2).dtype == gradus.float32
    x += 1
    assert type(x) is gnp.ndarray and x.tolist() == [2, 3] and len({x, x}) == 1
    with pytest.raises(TypeError):
        x + "a"
    assert (x == None) is False  # noqa: E711


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
    assert gnp.result_type(gnp.ones(1), gnp.float32, "int64") == gnp.float64
    assert issubclass(gnp.linalg.LinAlgError, RuntimeError) and gnp.unique_values(I).tolist() == [1, 2, 3, 4, 5, 9]
    assert gnp.pi == numpy.pi and gnp.newaxis is None and issubclass(gnp.ndarray, gradus.Tensor)


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


def test_random_numbers_of_more_distributions():
    gnp.random.seed(1)
    draws = gnp.random.choice(3, (2, 500), p=[0, 0.25, 0.75])
    assert draws.shape == (2, 500) and not (draws == 0).any() and 0.7 < float((draws == 2).double().mean()) < 0.8
    assert gnp.random.choice([5, 6, 7], p=[0, 0, 1]) == 7 and gnp.random.choice(A, 4).shape == (4, 3)
    assert sorted(gnp.random.choice(3, 2, replace=False, p=[0.5, 0.5, 0]).tolist()) == [0, 1]
    for numbers, mean in ((gnp.random.binomial(10, 0.5, 5000), 5), (gnp.random.poisson(4, 5000), 4),
                          (gnp.random.exponential(3.0, 5000), 3)):
        assert numbers.shape == (5000,) and abs(float(numbers.double().mean()) - mean) < 0.2
    assert isinstance(gnp.random.poisson(3.0), int) and isinstance(gnp.random.exponential(), float)
    assert gnp.random.binomial([5, 9], [0.0, 1.0]).tolist() == [0, 9]
    apart = gnp.random.normal([0.0] * 1000, 1.0)  # one number for each parameter
    assert apart.shape == (1000,) and len(set(apart.tolist())) == 1000 and gnp.random.uniform([0, 5], [1, 6]).shape == (2,)
    ours, list_, theirs = gnp.arange(9), list(range(9)), numpy.arange(9)
    for each in (ours, list_, theirs):
        assert gnp.random.shuffle(each) is None
        assert list(map(int, each)) != list(range(9)) and sorted(map(int, each)) == list(range(9))
    with pytest.raises(gradus.ValueError, match="the sum 2.0; expected 2 numbers from 0 on that sum to 1"):
        gnp.random.choice(2, p=[1, 1])


def test_comparisons_for_tests():
    testing = gnp.testing
    testing.assert_allclose(gnp.ones(2), [1, 1 + 1e-9])
    testing.assert_array_equal([1, gnp.nan], numpy.array([1, numpy.nan]))
    testing.assert_almost_equal(1.0, 1.004, decimal=2)
    for wrong, says in ((lambda: testing.assert_allclose(gnp.ones(2), [1, 2], err_msg="so"),
                         r"1 of 2 elements differ; at \(1,\) .* 1.0, .* 2.0. so"),
                        (lambda: testing.assert_array_equal([1, 2], [1, 2, 3]), r"the shapes are \(2,\) and \(3,\)"),
                        (lambda: testing.assert_almost_equal(1.0, 1.1), "differ")):
        with pytest.raises(AssertionError, match=says):
            wrong()


def test_options_of_printing():
    gnp.set_printoptions(precision=2, suppress=True)
    try:
        assert repr(gnp.array([1 / 3, 1e6])) == "tensor([      0.33, 1000000.00], dtype=gradus.float64)"
    finally:
        gradus.set_printoptions(profile="default")


def test_names_of_cupy():
    import gradus.cupy as cp

    assert cp.get_array_module(gnp.ones(2), 1) is gnp and cp.cuda.Stream is gradus.cuda.Stream and cp.cuda.Device(0).id == 0
    assert cp.get_default_memory_pool() is cp.get_default_memory_pool() and cp.testing.assert_allclose is gnp.testing.assert_allclose
    if gradus.cuda.is_available():
        x = cp.ones(1000)
        pool = cp.get_default_memory_pool()
        assert cp.get_array_module(x) is cp and pool.total_bytes() >= pool.used_bytes() >= 8000
        with cp.cuda.Device(0) as device:
            assert device.mem_info[1] > 0
            device.synchronize()
        pool.free_all_blocks()


def test_errors():
    for wrong, says in ((lambda: gnp.pad(V, 1, mode="mean"), "mode is 'mean'; expected 'constant'"),
                        (lambda: gnp.convolve(V, V, "all"), "mode is 'all'; expected 'full'")):
        with pytest.raises(gradus.ValueError, match=says):
            wrong()
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
