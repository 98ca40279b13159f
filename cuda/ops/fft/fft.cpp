// fft: on simulated devices by the CPU, on GPUs by cuFFT (cufft.h).
#include <cuda_runtime_api.h>

#include <cstdint>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/fft/cufft.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// cuFFT refuses memory that does not begin at a multiple of the size of a complex number, as that
// of a view of real numbers may.
bool begins_at_complex(const Tensor& x) {
  const size_t complex_size = x.element_size() * (x.is_complex() ? 1 : 2);
  return reinterpret_cast<uintptr_t>(x.data_ptr()) % complex_size == 0;
}

#ifdef GRADUS_SIMULATED
// The CPU works on copies, which cross as the simulator's own copies do.
void transform_here(const FourierTransform& how, const Tensor& x, const Tensor& out,
                    cudaStream_t stream) {
  check<Error>(
      begins_at_complex(x), "fft: a tensor of shape ", x.sizes(),
      " does not begin at a multiple of the size of a complex number, which cuFFT refuses; "
      "compute on the CPU: x.cpu()");
  const Tensor in = raw::contiguous(x), result = out.is_contiguous() ? out : raw::empty_like(out);
  const Tensor here = raw::empty(x.sizes(), x.dtype(), kCPU);
  const Tensor result_here = raw::empty(out.sizes(), out.dtype(), kCPU);
  check_cuda(
      cudaMemcpyAsync(here.data_ptr(), in.data_ptr(), in.nbytes(), cudaMemcpyDeviceToHost, stream),
      "fft: copy to the CPU");
  cpu_backend().fft(how, here, result_here);
  check_cuda(cudaMemcpyAsync(result.data_ptr(), result_here.data_ptr(), result.nbytes(),
                             cudaMemcpyHostToDevice, stream),
             "fft: copy from the CPU");
  if (!result.is_same(out)) raw::copy_(out, result);
}
#endif
}  // namespace

void CudaBackend::fft(const FourierTransform& how, const Tensor& x, const Tensor& out) {
  const Context context(x);
  check_not_captured("fft", "the library that computes it may allocate memory and wait");
  const Tensor from = begins_at_complex(x) ? x : raw::clone(x);
#ifdef GRADUS_SIMULATED
  transform_here(how, from, out, context.stream);
#else
  cufft_transform(how, from, out, context.stream);
#endif
}

}  // namespace gradus::cuda
