// scatter and gather: split a batch over devices, and join results on one.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// Splits x along dim into one part for each device, as chunk() does. All parts have one size,
// except that the last may be smaller. There may be fewer parts than devices. A part that is on its
// device already shares x's memory. Recorded.
// Errors: ValueError for a tensor without dimensions, IndexError for dim.
Tensors scatter(const Tensor& x, const std::vector<Device>& devices, int64_t dim = 0);

// Joins the parts along dim on `device`. Parts without dimensions become a vector. Recorded.
// Errors, which name the part: ValueError where shapes do not fit, TypeError where dtypes differ.
Tensor gather(ArrayRef<Tensor> parts, Device device, int64_t dim = 0);

}  // namespace gradus::nn::parallel
