"""A text of CUDA C++ and arrays on a GPU: a program for PyCUDA."""

import numpy

# was: import pycuda.autoinit
# was: import pycuda.gpuarray as gpuarray
# was: from pycuda.compiler import SourceModule
import gradus
from gradus.cuda import RawModule

# was: mod = SourceModule("""
mod = RawModule(code="""
__global__ void doublify(float *a)
{
  int idx = threadIdx.x + threadIdx.y*4;
  a[idx] *= 2;
}
""")
func = mod.get_function("doublify")

a = numpy.random.randn(4, 4).astype(numpy.float32)
# was: a_gpu = gpuarray.to_gpu(a)
a_gpu = gradus.tensor(a, device="cuda")
# was: func(a_gpu, block=(4, 4, 1), grid=(1, 1))
func((1, 1), (4, 4, 1), (a_gpu,))
# was: a_doubled = a_gpu.get()
a_doubled = a_gpu.cpu().numpy()
assert numpy.allclose(a_doubled, 2 * a)

# was: assert numpy.allclose((2 * a_gpu).get(), 4 * a)
assert numpy.allclose((2 * a_gpu).cpu(), 4 * a)
# was: total = gpuarray.sum(a_gpu).get()
total = a_gpu.sum().item()
assert abs(total - 2 * a.sum()) < 1e-4
# was: assert gpuarray.zeros((2, 3), numpy.float32).shape == (2, 3)
assert gradus.zeros(2, 3, device="cuda").shape == (2, 3)
