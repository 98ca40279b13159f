"""Kernels of one's own, fused functions and graphs, on a GPU or on simulated devices."""

import inspect
import math
import pathlib

import pytest

import gradus
from gradus import nn

needs_gpu = pytest.mark.skipif(not gradus.cuda.is_available(), reason="there is no GPU")

AXPY = """
__global__ void axpy(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}"""


@needs_gpu
def test_raw_kernel():
    axpy = gradus.cuda.RawKernel(AXPY, "axpy")
    x, y = gradus.ones(1000, device="cuda"), gradus.ones(1000, device="cuda")
    axpy((4,), (256,), (x, y, 1000, 2.0))
    axpy(4, 256, (x, y, 1000, 2))
    assert y.eq(5).all().item()
    assert axpy.name == "axpy"
    with pytest.raises(gradus.TypeError, match="double|float64"):
        axpy((4,), (256,), (x.double(), y, 1000, 2.0))
    with pytest.raises(gradus.TypeError, match="argument 3 is of type str"):
        axpy((4,), (256,), (x, y, "many", 2.0))
    with pytest.raises(gradus.TypeError, match="one to three integers"):
        axpy((1, 1, 1, 1), (256,), (x, y, 1000, 2.0))


@needs_gpu
def test_errors_of_a_text_name_the_line_of_the_program():
    line = inspect.currentframe().f_lineno + 1
    kernel = gradus.cuda.RawKernel("\n__global__ void fill(float* x) {\n  x[0] = vaule;\n}", "fill")
    with pytest.raises(gradus.CompileError, match=rf"{pathlib.Path(__file__).name}:{line}:3:(\d+:)? error: .*vaule"):
        kernel((1,), (1,), (gradus.zeros(1, device="cuda"),))


@needs_gpu
def test_raw_module(tmp_path):
    text = """
__device__ int calls;
__global__ void count() { atomicAdd(&calls, 1); }
template <class T> __global__ void read(T* out) { *out = calls; }"""
    (tmp_path / "count.cu").write_text(text)
    for given in ({"code": text}, {"path": tmp_path / "count.cu"}):
        module = gradus.cuda.RawModule(**given, name_expressions=["read<float>"])
        module.get_function("count")((2,), (3,))
        out = gradus.zeros(1, device="cuda")
        module.get_function("read<float>")((1,), (1,), (out,))
        assert out.item() == 6
    with pytest.raises(gradus.TypeError, match="either code= or path="):
        gradus.cuda.RawModule()
    with pytest.raises(gradus.Error, match="nothing.cu cannot be read"):
        gradus.cuda.RawModule(path=tmp_path / "nothing.cu")
    with pytest.raises(gradus.ValueError, match="add"):
        module.get_function("add")


@needs_gpu
def test_elementwise_kernel():
    squared_diff = gradus.cuda.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
    x, y = gradus.randn(3, 4, device="cuda"), gradus.randn(4, device="cuda")
    assert squared_diff(x, y).allclose((x - y).square())
    assert squared_diff(x, 1).allclose((x - 1).square())
    z = gradus.zeros(3, 4, device="cuda")
    assert squared_diff(x, y, z) is z
    both = gradus.cuda.ElementwiseKernel("T x", "T a, T b", "a = x; b = -x", "both")
    a, b = both(x)
    assert a.equal(x) and b.equal(-x)
    index = gradus.cuda.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i]", "backwards")
    assert index(gradus.arange(4.0, device="cuda"), size=4).tolist() == [3, 2, 1, 0]
    with pytest.raises(gradus.ValueError, match="size is given"):
        squared_diff(x, y, size=4)


@needs_gpu
def test_reduction_kernel():
    l2norm = gradus.cuda.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = gradus.randn(5, 7, device="cuda")
    assert l2norm(x).allclose(x.norm())
    assert l2norm(x, axis=1).allclose(x.norm(2, 1))
    assert l2norm(x, axis=(0, 1), keepdims=True).shape == (1, 1)
    out = gradus.empty(5, device="cuda")
    assert l2norm(x, axis=1, out=out) is out and out.allclose(x.norm(2, 1))
    with pytest.raises(IndexError):
        l2norm(x, axis=2)


def test_fuse():
    calls = []

    @gradus.fuse
    def circle(x, power=2):
        """cos^2 + sin^2."""
        calls.append(1)
        return x.cos() ** power + x.sin() ** power

    for device in ["cpu"] + ["cuda"] * gradus.cuda.is_available():
        x = gradus.randn(100, device=device)
        assert (circle(x) - 1).abs().max() < 1e-5
        assert circle(x, power=1).allclose(x.cos() + x.sin(), atol=1e-6)
        assert circle(x, 3).allclose(x.cos() ** 3 + x.sin() ** 3, atol=1e-6)
    before = len(calls)
    circle(gradus.randn(100))
    assert len(calls) == before
    assert circle.__doc__ == "cos^2 + sin^2." and "cos" in circle.source() and circle.why_not() == ""
    x = gradus.randn(10, requires_grad=True)
    circle(x, 3).sum().backward()
    assert x.grad.allclose(3 * x.detach().sin() ** 2 * x.detach().cos() - 3 * x.detach().cos() ** 2 * x.detach().sin(),
                           atol=1e-5)
    first, second = gradus.fuse(lambda a, b: (a + b, a * b))(gradus.ones(3), gradus.full((3,), 2.0))
    assert first.tolist() == [3, 3, 3] and second.tolist() == [2, 2, 2]
    with pytest.raises(gradus.TypeError, match="hashed"):
        circle(gradus.ones(3), power=[2])
    with pytest.raises(gradus.TypeError, match="expected a function"):
        gradus.fuse(1)
    with pytest.warns(UserWarning, match="sort"):
        f = gradus.fuse(lambda a: a.sort()[0])
        assert f(gradus.tensor([2.0, 1.0])).tolist() == [1, 2]
    assert "sort" in f.why_not()


LIMIT = 100


def collatz_like(x):
    if x > 0:
        if x > 2:
            return x - 2
        y = x * 2
    elif x < -1 or x == -0.5:
        y = min(x, -3.0)
    else:
        y = abs(x)
    y += 1 if not LIMIT or LIMIT > 99 and math.pi else 5
    for i in range(2):
        y = y + i
    return y if not y == LIMIT else 0.0


def square(x):
    return x * x


def distance(a, b):
    return math.sqrt(square(a) + square(b)) if 0 < a <= b else math.fabs(a - b)


def test_vectorize():
    for function, count in ((collatz_like, 1), (distance, 2)):
        vectorized = gradus.vectorize(function)
        values = [[-3.5, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 2.5, 7.0][i:] + [1.5] * i for i in range(count)]
        expected = [function(*numbers) for numbers in zip(*values)]
        for device in ["cpu"] + ["cuda"] * gradus.cuda.is_available():
            given = [gradus.tensor(each, device=device) for each in values]
            assert gradus.allclose(vectorized(*given).cpu(), gradus.tensor(expected))
            assert vectorized.why_not() == ""
        out = gradus.empty(10)
        given = [gradus.tensor(each) for each in values]
        assert vectorized(*given, out=out) is out and gradus.allclose(out, gradus.tensor(expected))
    with pytest.raises(gradus.ValueError, match="out has shape"):
        vectorized(*given, out=gradus.empty(3))
    x = gradus.tensor([0.5, 3.0], requires_grad=True)
    gradus.vectorize(collatz_like)(x).sum().backward()
    assert x.grad.tolist() == [2, 1]


def test_what_vectorize_does_not_know():
    def loops(x):
        while x > 1:
            x = x / 2
        return x

    def sometimes(x):
        if x > 0:
            return x

    with pytest.raises(gradus.NotImplementedError, match=r"While is not known, at .*test_kernels.py:\d+"):
        gradus.vectorize(loops)._function(gradus.ones(2))
    with pytest.raises(gradus.TypeError, match="returns nothing on some way"):
        gradus.vectorize(sometimes)._function(gradus.ones(2))
    with pytest.raises(gradus.TypeError, match="text of the function is not known"):
        gradus.vectorize(len)


@needs_gpu
def test_make_graphed():
    def train(graphed):
        gradus.manual_seed(3)
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 2)).to("cuda")
        optimizer = gradus.optim.Adam(model.parameters(), lr=0.01)
        x, y = gradus.randn(16, 4, device="cuda"), gradus.randint(2, (16,), device="cuda")
        runs = []

        def step(x, y):
            runs.append(1)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return {"loss": loss}

        call = gradus.cuda.make_graphed(step, x, y) if graphed else step
        losses = [call(x * (1 + i), y)["loss"].item() for i in range(6)]
        return losses, len(runs), call

    (expected, runs, _), (losses, graphed_runs, call) = train(False), train(True)
    assert losses == expected
    assert (runs, graphed_runs) == (6, 3)
    with pytest.raises(gradus.ValueError, match="shape"):
        call(gradus.randn(8, 4, device="cuda"), gradus.randint(2, (8,), device="cuda"))
    with pytest.raises(gradus.TypeError, match="1 inputs are given; expected 2"):
        call(gradus.randn(16, 4, device="cuda"))
    with pytest.raises(gradus.ValueError, match="on cpu"):
        gradus.cuda.make_graphed(lambda x: x, gradus.ones(2))
    refused = gradus.cuda.make_graphed(lambda x: x * x.sum().item(), gradus.ones(2, device="cuda"))
    for _ in range(2):
        refused(gradus.ones(2, device="cuda"))
    for _ in range(2):
        with pytest.raises(gradus.Error, match="item"):
            refused(gradus.ones(2, device="cuda"))
    assert gradus.ones(2, device="cuda").sum().item() == 2


@needs_gpu
def test_graph_by_hand():
    x, graph = gradus.zeros(4, device="cuda"), gradus.cuda.CUDAGraph()
    with gradus.cuda.graph(graph):
        assert gradus.cuda.is_current_stream_capturing()
        y = (x + 1) * 2
    for value in (3, 4):
        x.fill_(value)
        graph.replay()
        assert y.tolist() == [2 * value + 2] * 4
    with pytest.raises(gradus.Error):
        with gradus.cuda.graph(gradus.cuda.CUDAGraph(), stream=gradus.cuda.default_stream()):
            pass
    again = gradus.cuda.CUDAGraph()
    with pytest.raises(ZeroDivisionError):
        with gradus.cuda.graph(again):
            1 / 0
    assert not gradus.cuda.is_current_stream_capturing()
    with gradus.cuda.graph(again):
        z = x + 5
    again.replay()
    assert z.tolist() == [9] * 4


@needs_gpu
def test_streams_events_and_memory():
    side = gradus.cuda.Stream()
    start, end = gradus.cuda.Event(enable_timing=True), gradus.cuda.Event(enable_timing=True)
    with gradus.cuda.stream(side):
        start.record()
        x = gradus.ones(100, device="cuda") * 2
        end.record()
        assert gradus.cuda.current_stream() == side
    side.synchronize()
    assert x.sum().item() == 200 and end.query() and start.elapsed_time(end) >= 0
    before = gradus.cuda.memory_allocated()
    y = gradus.empty(1 << 20, dtype=gradus.uint8, device="cuda")
    assert gradus.cuda.memory_allocated() - before >= 1 << 20
    del y
    gradus.cuda.empty_cache()
    assert gradus.cuda.memory_allocated() == before
    properties = gradus.cuda.get_device_properties(0)
    assert (properties.major, properties.minor) == gradus.cuda.get_device_capability()
    assert properties.name == gradus.cuda.get_device_name()
    free, total = gradus.cuda.mem_get_info("cuda:0")
    assert 0 < free <= total and total >= properties.total_memory  # a driver may count more


@pytest.mark.skipif(gradus.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_a_kernel_says_so():
    with pytest.raises(gradus.Error, match="CUDA|GPU"):
        gradus.cuda.RawKernel(AXPY, "axpy").compile()
