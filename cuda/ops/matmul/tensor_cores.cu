// The kernels by tensor cores: a file of their own, as they take long to compile.
#include <atomic>

#include "gradus/cuda/kernels/matmul/tensor_cores.cuh"
#include "gradus/cuda/ops/matmul/kernel.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/launch.h"

namespace gradus::cuda {

namespace {
template <class S>
constexpr MatmulKernel<float> kernel(double speed, double alone) {
  return {.runs = {matmul_tensor_cores<S, false, false>, matmul_tensor_cores<S, false, true>,
                   matmul_tensor_cores<S, true, false>, matmul_tensor_cores<S, true, true>},
          .rows = S::kRows,
          .cols = S::kCols,
          .threads = S::kThreads,
          .resident = S::kResident,
          .speed = speed,
          .alone = alone,
          .shared_bytes = S::kSharedBytes,
          .uses_tensor_cores = true,
          .groups = S::kGroups,
          .sums_rows = S::kSumsRows};
}
}  // namespace

// rows, columns, depth of a block; rows, columns of a warp; tiles in shared memory; blocks; groups.
constexpr std::array<MatmulKernel<float>, 4> kTensorCores = {
    kernel<TensorShape<128, 128, 16, 64, 64, 3, 2>>(0.94, 22000),
    kernel<TensorShape<64, 64, 32, 32, 32, 3, 3>>(0.82, 8300),
    kernel<TensorShape<32, 64, 32, 16, 32, 3, 4>>(0.72, 6000),
    kernel<TensorShape<32, 32, 64, 16, 32, 4, 2, 4>>(0.66, 1800)};

// The code for a device may come from PTX of an older one, which has no such instructions.
bool has_tensor_cores() {
  static std::array<std::atomic<signed char>, kMaxDevices> known{};  // 0: not asked yet
  std::atomic<signed char>& mine = known[static_cast<size_t>(current_device())];
  if (mine == 0) {
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, kTensorCores[0].runs.at[0][0]), "matmul");
    mine = attributes.ptxVersion >= 80 ? 1 : -1;
  }
  return mine > 0;
}

}  // namespace gradus::cuda
