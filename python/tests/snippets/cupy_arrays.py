"""Arrays on a GPU, there and back, and kernels of one's own: a program for CuPy."""

import numpy as np

# was: import cupy as cp
import gradus.cupy as cp

x_gpu = cp.array([1, 2, 3])
assert cp.asnumpy(cp.add(x_gpu, x_gpu)).tolist() == [2, 4, 6]
x_cpu = np.random.rand(64, 64)  # 1000 x 1000 and 16000 x 16000 in the document
a = cp.asarray(x_cpu)
b = cp.dot(a, a)
assert np.allclose(cp.asnumpy(b), x_cpu @ x_cpu)
assert abs(float(cp.linalg.norm(a)) - np.linalg.norm(x_cpu)) < 1e-9
ones = cp.ones((2, 3))
assert ones.dtype == cp.float64 and float(cp.sum(ones)) == 6
well = a + 64 * cp.eye(64)
assert np.allclose(cp.asnumpy(cp.dot(cp.linalg.inv(well), well)), np.eye(64))
values, vectors = cp.linalg.eigh(a + a.T)
assert np.allclose(cp.asnumpy(values), np.linalg.eigvalsh(x_cpu + x_cpu.T))
signal = np.random.rand(1000) + 1j * np.random.rand(1000)  # 1e7 in the document
assert np.allclose(cp.asnumpy(cp.fft.fft(cp.asarray(signal))), np.fft.fft(signal))

squared_diff = cp.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = (x - y) * (x - y)", "squared_diff")
assert np.allclose(cp.asnumpy(squared_diff(a, a.T)), (x_cpu - x_cpu.T) ** 2)
l2norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
assert np.allclose(cp.asnumpy(l2norm(a, axis=1)), np.linalg.norm(x_cpu, axis=1))

add_kernel = cp.RawKernel(r'''
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}
''', "my_add")
x1 = cp.arange(25, dtype=cp.float32).reshape(5, 5)
y = cp.zeros((5, 5), dtype=cp.float32)
add_kernel((5,), (5,), (x1, x1, y))
assert cp.allclose(y, 2 * x1)
