// Histogram: numbers in buckets, as TensorBoard shows them.
#pragma once

#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::watch::detail {

// counts[i] numbers are above limits[i - 1] and at most limits[i].
struct Histogram {
  double least = 0, greatest = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits, counts;
};

// The histogram of the finite numbers of x. Borders are 0, and numbers from 1e-12 on that are a
// tenth apart, with both signs. Empty buckets at the ends are left out.
Histogram histogram_of(const Tensor& x);

}  // namespace gradus::watch::detail
