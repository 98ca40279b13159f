// The results that are made of a channel's moments: the moments, or batch norm's statistics and the
// running ones.
#pragma once

#include <cstdint>

#include "gradus/tensor/math/elementwise.h"

namespace gradus::cuda {

template <class S>
struct GivenMoments {
  S *means, *variances;

  __device__ void take(int64_t channel, S mean, S variance) const {
    means[channel] = mean, variances[channel] = variance;
  }
};

// The steps are those of rsqrt(variance + eps) and of lerp, so that the bits are theirs.
template <class S>
struct BatchStatistics {
  S eps, momentum, unbiased;  // n / (n - 1)
  S *running_means, *running_variances;
  int64_t* count;  // these three may be null
  S *means, *rstds;

  __device__ void take(int64_t channel, S mean, S variance) const {
    using Lerp = scalar::Ternary<TernaryOp::lerp>;
    means[channel] = mean;
    rstds[channel] = scalar::Unary<UnaryOp::rsqrt>::f(variance + eps);
    if (running_means) running_means[channel] = Lerp::f(running_means[channel], mean, momentum);
    if (running_variances)
      running_variances[channel] =
          Lerp::f(running_variances[channel], variance * unbiased, momentum);
    if (count && channel == 0) ++*count;
  }
};

}  // namespace gradus::cuda
