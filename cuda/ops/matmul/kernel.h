// A kernel of the matmul ladder as the host sees it.
#pragma once

#include <array>
#include <string_view>

#include "gradus/cuda/kernels/matmul/operand.h"

namespace gradus::cuda {

template <class T>
struct MatmulKernel {
  using Run = void (*)(MatmulArgs<T>);
  // The instances of a kernel: at[i][j] for i = a.along_outer and j = b.along_outer.
  struct Runs {
    constexpr Runs() = default;
    constexpr Runs(Run every) : Runs(every, every, every, every) {}
    constexpr Runs(Run none, Run only_b, Run only_a, Run both)
        : at{{none, only_b}, {only_a, both}} {}
    Run at[2][2] = {};
  };

  Runs runs;
  int rows, cols;  // outputs that a block makes
  int threads;
  int resident = 1;  // blocks that fit a multiprocessor
  // The model by which matmul.cu chooses a kernel. The unit of time: all FFMA units of a
  // multiprocessor do one multiply-add each.
  double speed = 1;      // the share of the FFMA units' rate that the kernel reaches
  double alone = 5600;   // the least time of a term of the sums: that of a single block
  int shared_bytes = 0;  // dynamic
  bool uses_tensor_cores = false;
  int groups = 1;          // of warps, which share the terms of a step
  bool sums_rows = false;  // see MatmulArgs::row_sums

  Run run(const MatmulArgs<T>& args) const {
    return runs.at[args.a.along_outer][args.b.along_outer];
  }
};

// Where rows may not depend on the batch, a product is planned as one of so many rows, on a GPU of
// so many multiprocessors.
inline constexpr int64_t kPlannedRows = 256, kPlannedMultiprocessors = 132;

// Errors: NotImplementedError where rows may not depend on the batch, and the order in which the
// kernel of this name adds does.
void check_batch_invariant(std::string_view name);

// The kernels of the rung tensor_cores: for large products first, then with smaller tiles.
extern const std::array<MatmulKernel<float>, 4> kTensorCores;

// Whether the current device has tensor cores for float32 and this build has kernels for them.
bool has_tensor_cores();

}  // namespace gradus::cuda
