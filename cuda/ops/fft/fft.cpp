// fft: on simulated devices by the CPU, on GPUs by cuFFT (cufft.h).
#include <cuda_runtime_api.h>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/fft/cufft.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {
#ifdef GRADUS_SIMULATED
// The CPU works on copies, which cross as the simulator's own copies do.
void transform_here(const FourierTransform& how, const Tensor& x, const Tensor& out,
                    cudaStream_t stream) {
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
#ifdef GRADUS_SIMULATED
  transform_here(how, x, out, context.stream);
#else
  cufft_transform(how, x, out, context.stream);
#endif
}

}  // namespace gradus::cuda
