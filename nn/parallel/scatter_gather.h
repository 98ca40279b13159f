// How a batch is shared out, and how results come together.
#pragma once

#include <vector>

#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// x in parts along dim, one for each device, by the rule of chunk(): parts of one size, but for a
// smaller last one, and so fewer parts than devices where the size does not suffice. A part that is
// on its device already shares x's memory. Recorded.
// Errors: ValueError for a tensor without dimensions, IndexError for dim.
Tensors scatter(const Tensor& x, const std::vector<Device>& devices, int64_t dim = 0);

// The parts one after the other along dim, on `device`. Parts without dimensions become a vector.
// Not recorded. Errors: ValueError where shapes do not fit, TypeError where dtypes differ; they
// name the part.
Tensor gather(ArrayRef<Tensor> parts, Device device, int64_t dim = 0);

}  // namespace gradus::nn::parallel
