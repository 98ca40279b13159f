// batch_statistics_of: what a kernel needs to finish the statistics of batch norm.
#pragma once

#include "gradus/cuda/kernels/rows/batch_statistics.cuh"
#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// REQUIRES: all are contiguous; count is of int64, the others of S.
template <class S>
BatchStatistics<S> batch_statistics_of(const NormalizedRows& rows, double eps, double momentum,
                                       const Tensor& running_mean, const Tensor& running_var,
                                       const Tensor& count, const Tensor& mean,
                                       const Tensor& rstd) {
  const auto n = static_cast<double>(rows.elements());
  const auto at = [](const Tensor& x) {
    return x.defined() ? static_cast<S*>(x.data_ptr()) : nullptr;
  };
  return {static_cast<S>(eps),
          static_cast<S>(momentum),
          static_cast<S>(n / (n - 1)),
          at(running_mean),
          at(running_var),
          count.defined() ? count.data_ptr<int64_t>() : nullptr,
          at(mean),
          at(rstd)};
}

}  // namespace gradus::cuda
