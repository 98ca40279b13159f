"""Kernels for a GPU: a program for Numba. The body of a kernel is CUDA C++ here."""

import numpy as np

# was: from numba import cuda, float32
import gradus
from gradus import cuda

# was: @cuda.jit
# was: def add(x, y, out):
# was:     i = cuda.grid(1)
# was:     if i < x.size:
# was:         out[i] = x[i] + y[i]
add = cuda.RawKernel("""
__global__ void add(const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}""", "add")

n = 1000
# was: x = cuda.to_device(np.arange(n, dtype=np.float32))
x = gradus.from_numpy(np.arange(n, dtype=np.float32)).cuda()
y = 2 * x
# was: out = cuda.device_array_like(x)
out = gradus.empty_like(x)
# was: add[(n + 255) // 256, 256](x, y, out)
add((n + 255) // 256, 256, (x, y, out, n))
# was: assert np.allclose(out.copy_to_host(), 3 * np.arange(n))
assert np.allclose(out.cpu(), 3 * np.arange(n))

# was: @cuda.jit(device=True)
# was: def smooth(left, middle, right):
# was:     return (left + 2 * middle + right) / 4
# was: @cuda.jit
# was: def smooth_rows(image, out):
# was:     i, j = cuda.grid(2)
# was:     if i < image.shape[0] and 0 < j < image.shape[1] - 1:
# was:         out[i, j] = smooth(image[i, j - 1], image[i, j], image[i, j + 1])
smooth_rows = cuda.RawKernel("""
__device__ float smooth(float left, float middle, float right) { return (left + 2 * middle + right) / 4; }
__global__ void smooth_rows(const float* image, float* out, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  const int at = i * columns + j;
  if (i < rows && 0 < j && j < columns - 1) out[at] = smooth(image[at - 1], image[at], image[at + 1]);
}""", "smooth_rows")

# was: image = cuda.to_device(np.random.rand(20, 30).astype(np.float32))
image = gradus.from_numpy(np.random.rand(20, 30).astype(np.float32)).cuda()
# was: out = cuda.to_device(np.zeros((20, 30), np.float32))
out = gradus.zeros_like(image)
# was: smooth_rows[(3, 4), (8, 8)](image, out)
smooth_rows((4, 3), (8, 8), (image, out, 20, 30))
# was: host = image.copy_to_host()
host = image.cpu().numpy()
# was: assert np.allclose(out.copy_to_host()[:, 1:-1], (host[:, :-2] + 2 * host[:, 1:-1] + host[:, 2:]) / 4)
assert np.allclose(out.cpu()[:, 1:-1], (host[:, :-2] + 2 * host[:, 1:-1] + host[:, 2:]) / 4)

# was: @cuda.jit
# was: def matmul(a, b, c):
# was:     a_tile = cuda.shared.array((8, 8), float32)
# was:     b_tile = cuda.shared.array((8, 8), float32)
# was:     x, y = cuda.threadIdx.x, cuda.threadIdx.y
# was:     column, row = cuda.grid(2)
# was:     total = float32(0)
# was:     for k in range(0, a.shape[1], 8):
# was:         a_tile[y, x] = a[row, k + x]
# was:         b_tile[y, x] = b[k + y, column]
# was:         cuda.syncthreads()
# was:         for i in range(8):
# was:             total += a_tile[y, i] * b_tile[i, x]
# was:         cuda.syncthreads()
# was:     c[row, column] = total
matmul = cuda.RawKernel("""
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[8][8], b_tile[8][8];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
  float total = 0;
  for (int k = 0; k < n; k += 8) {
    a_tile[y][x] = a[row * n + k + x];
    b_tile[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 8; ++i) total += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  c[row * n + column] = total;
}""", "matmul")

# was: a = cuda.to_device(np.random.rand(24, 24).astype(np.float32))
a = gradus.from_numpy(np.random.rand(24, 24).astype(np.float32)).cuda()
# was: c = cuda.device_array((24, 24), np.float32)
c = gradus.empty_like(a)
# was: matmul[(3, 3), (8, 8)](a, a, c)
matmul((3, 3), (8, 8), (a, a, c, 24))
# was: assert np.allclose(c.copy_to_host(), a.copy_to_host() @ a.copy_to_host())
assert np.allclose(c.cpu(), a.cpu() @ a.cpu())
