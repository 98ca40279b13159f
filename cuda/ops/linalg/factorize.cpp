// factorize: on simulated devices by the CPU's LAPACK, on GPUs by cuSOLVER and cuBLAS's batches
// (cusolver.h).
#include <cuda_runtime_api.h>

#include <cmath>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/ops/linalg/cusolver.h"
#include "gradus/cuda/runtime/capture.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {
#ifdef GRADUS_SIMULATED
// The CPU works on copies, which cross as the simulator's own copies do.
void factorize_here(Factorization op, const FactorizationForm& form, ArrayRef<Tensor> tensors,
                    cudaStream_t stream) {
  Tensors here;
  for (const Tensor& x : tensors) {
    here.push_back(x.defined() ? raw::empty(x.sizes(), x.dtype(), kCPU) : x);
    if (x.defined())
      check_cuda(cudaMemcpyAsync(here.back().data_ptr(), x.data_ptr(), x.nbytes(),
                                 cudaMemcpyDeviceToHost, stream),
                 Called::name(), ": copy to the CPU");
  }
  cpu_backend().factorize(op, form, here);
  for (size_t i = 0; i < here.size(); ++i)
    if (here[i].defined())
      check_cuda(cudaMemcpyAsync(tensors[i].data_ptr(), here[i].data_ptr(), here[i].nbytes(),
                                 cudaMemcpyHostToDevice, stream),
                 Called::name(), ": copy from the CPU");
}
#endif

// Whether the elements of each matrix are numbers: NaN is the largest element where there is one.
Tensor are_numbers(const Tensor& matrices) {
  const Tensor largest = raw::reduce(ReduceOp::amax, matrices, IntArrayRef({1, 2}));
  return raw::expand(raw::zip(BinaryOp::eq, largest, largest), matrices.sizes());
}
}  // namespace

void CudaBackend::factorize(Factorization op, const FactorizationForm& form,
                            ArrayRef<Tensor> tensors) {
  const Context context(tensors[0]);
  check_not_captured(Called::name(), "the library that computes it may allocate memory and wait");
  // The LU of cuSOLVER may take NaN for 0, and give finite factors and an info of 0. So a matrix
  // with NaN has factors of NaN.
  Tensor numbers;
  if (op == Factorization::lu) numbers = are_numbers(tensors[0]);
#ifdef GRADUS_SIMULATED
  factorize_here(op, form, tensors, context.stream);
#else
  cusolver_factorize(op, form, tensors, context.stream);
#endif
  if (numbers.defined()) where(numbers, tensors[0], Scalar(NAN), tensors[0]);
}

}  // namespace gradus::cuda
