"""Tensors of a GPU that CuPy and Numba share: who frees the memory, who waits for whom, whose kernels write.

Those of CuPy and Numba need a GPU; one stream that waits for another needs a GPU or a simulated one."""

import gc
import sys

import pytest

import gradus

HAS_GPU = gradus.cuda.is_available() and not gradus.sim.is_available()
needs_device = pytest.mark.skipif(not gradus.cuda.is_available(), reason="there is no GPU, and no simulated one")

# Writes a value after so many turns of a loop that no compiler shortens.
SLOW = r"""
extern "C" __global__ void slow(float* out, float value, int turns) {
  volatile float kept = value;
  for (int i = 0; i < turns; ++i) kept = kept * 1.0f;
  *out = kept;
}"""
TURNS = 20000 if HAS_GPU else 20
ROUNDS = 1000


@pytest.fixture
def cupy():
    if not HAS_GPU:
        pytest.skip("there is no GPU")
    return pytest.importorskip("cupy", reason="CuPy cannot be imported")


@pytest.fixture
def numba_cuda(monkeypatch):
    if not HAS_GPU:
        pytest.skip("there is no GPU")
    numpy = pytest.importorskip("numpy")
    if not hasattr(numpy, "row_stack"):  # which Numba still takes from NumPy
        monkeypatch.setattr(numpy, "row_stack", numpy.vstack, raising=False)
    return pytest.importorskip("numba.cuda", reason="Numba's part for CUDA cannot be imported")


def test_an_array_of_cupy_is_let_go_of_once(cupy):
    for hold in (gradus.from_dlpack, lambda array: gradus.from_dlpack(array.__dlpack__()),
                 lambda array: gradus.from_dlpack(array)[1:], lambda array: array.__dlpack__()):
        array = cupy.arange(6)
        before = sys.getrefcount(array)
        held = hold(array)
        assert sys.getrefcount(array) > before
        del held
        gc.collect()
        assert sys.getrefcount(array) == before


def test_memory_that_cupy_has_is_given_back_once(cupy):
    gc.collect()
    gradus.cuda.synchronize()
    before = gradus.cuda.memory_allocated()
    for hold in (cupy.from_dlpack, cupy.asarray, lambda tensor: cupy.from_dlpack(tensor)[1:],
                 lambda tensor: tensor.__dlpack__()):
        tensor = gradus.ones(1 << 20, device="cuda")
        held = hold(tensor)
        del tensor
        gc.collect()
        assert gradus.cuda.memory_allocated() >= before + (4 << 20)
        del held
        gc.collect()
        assert gradus.cuda.memory_allocated() == before


@needs_device
def test_a_stream_that_takes_a_tensor_waits_for_its_writer():
    slow = gradus.cuda.RawKernel(SLOW, "slow")
    x = gradus.zeros(1, device="cuda")
    writer, reader = gradus.cuda.Stream(), gradus.cuda.Stream()
    gradus.cuda.synchronize()
    for i in range(ROUNDS):
        with gradus.cuda.stream(writer):
            slow((1,), (1,), (x, float(i), TURNS))
            capsule = x.__dlpack__(stream=reader.cuda_stream)
        with gradus.cuda.stream(reader):
            assert (gradus.from_dlpack(capsule) + 1).item() == i + 1


def test_a_stream_of_cupy_that_takes_a_tensor_waits_for_its_writer(cupy):
    slow = gradus.cuda.RawKernel(SLOW, "slow")
    x = gradus.zeros(1, device="cuda")
    writer, reader = gradus.cuda.Stream(), cupy.cuda.Stream(non_blocking=True)
    gradus.cuda.synchronize()
    for i in range(ROUNDS):
        with reader:
            with gradus.cuda.stream(writer):
                slow((1,), (1,), (x, float(i), TURNS))
                theirs = cupy.from_dlpack(x)
            assert float((theirs + 1).get()[0]) == i + 1


def test_a_stream_that_takes_an_array_of_cupy_waits_for_its_writer(cupy):
    slow = cupy.RawKernel(SLOW, "slow")
    array = cupy.zeros(1, dtype=cupy.float32)
    writer, reader = cupy.cuda.Stream(non_blocking=True), gradus.cuda.Stream()
    cupy.cuda.Device().synchronize()
    for i in range(ROUNDS):
        with gradus.cuda.stream(reader):
            with writer:
                slow((1,), (1,), (array, cupy.float32(i), cupy.int32(TURNS)))
                ours = gradus.from_dlpack(array)
            assert (ours + 1).item() == i + 1


def test_a_kernel_of_cupy_writes_into_a_tensor(cupy):
    code = r"""
extern "C" __global__ void fill(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * i;
}"""
    x = gradus.zeros(1000, device="cuda")
    cupy.RawKernel(code, "fill")((4,), (256,), (cupy.asarray(x), cupy.int32(1000)))
    assert gradus.equal(x.cpu(), gradus.arange(1000).float() * 2)
    matrix = gradus.zeros(3, 4, device="cuda")
    add = cupy.ElementwiseKernel("float32 a, float32 b", "float32 out", "out = a + b", "add")
    ones = cupy.ones((4, 3), dtype=cupy.float32)
    add(ones, ones, cupy.from_dlpack(matrix.T))  # through a transposed view
    assert gradus.equal(matrix.cpu(), gradus.full((3, 4), 2.0))


BLOCKS = 128  # Numba warns of fewer


def test_a_kernel_of_numba_writes_into_a_tensor(numba_cuda):
    @numba_cuda.jit
    def fill(out):
        i = numba_cuda.grid(1)
        if i < out.size:
            out[i] = 2 * i

    x = gradus.zeros(1000, device="cuda")
    fill[BLOCKS, 32](numba_cuda.as_cuda_array(x))
    numba_cuda.synchronize()
    assert gradus.equal(x.cpu(), gradus.arange(1000).float() * 2)
    every_second = gradus.zeros(8, device="cuda")
    fill[BLOCKS, 32](numba_cuda.as_cuda_array(every_second[::2]))
    numba_cuda.synchronize()
    assert every_second.tolist() == [0, 0, 2, 0, 4, 0, 6, 0]


@needs_device
def test_states_of_random_numbers():
    states = gradus.cuda.get_rng_state_all()
    assert len(states) == gradus.cuda.device_count() and all(str(state.device) == "cpu" for state in states)
    first = gradus.rand(5, device="cuda")
    cpu = gradus.get_rng_state()
    gradus.cuda.set_rng_state_all(states)
    assert gradus.rand(5, device="cuda").equal(first) and gradus.get_rng_state().equal(cpu)
    gradus.cuda.manual_seed(4)
    second, state = gradus.rand(3, device="cuda"), gradus.cuda.get_rng_state("cuda:0")
    with gradus.random.fork_rng():
        gradus.rand(7, device="cuda")
    third = gradus.rand(3, device="cuda")
    gradus.cuda.set_rng_state(state, 0)
    assert gradus.rand(3, device="cuda").equal(third) and not third.equal(second)
    gradus.cuda.manual_seed_all(4)
    assert gradus.rand(3, device="cuda").equal(second) and gradus.cuda.initial_seed() == 4
    assert gradus.get_rng_state().equal(cpu)


@needs_device
@pytest.mark.parametrize("captured", [False, True])
def test_checkpoint_draws_the_numbers_of_a_run_without_it(captured):
    from gradus.utils.checkpoint import checkpoint

    x = gradus.ones(64, device="cuda", requires_grad=True)

    def gradients(run):
        def step(weights):
            y = run(lambda t: gradus.nn.functional.dropout(t * weights, 0.5), x)
            grad, = gradus.autograd.grad((y * y.detach()).sum() + gradus.rand(1, device="cuda").sum() * 0, x)
            return grad, y.detach()

        weights = gradus.arange(64.0, device="cuda") + 1
        gradus.manual_seed(3)
        call = gradus.cuda.make_graphed(step, weights) if captured else step
        return [tuple(each.clone() for each in call(weights)) for _ in range(4)]

    plain, again = gradients(lambda f, t: f(t)), gradients(checkpoint)
    for (grad, y), (expected_grad, expected_y) in zip(again, plain):
        assert grad.equal(expected_grad) and y.equal(expected_y)
    assert not plain[2][1].equal(plain[3][1])
