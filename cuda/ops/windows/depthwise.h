// Convolutions of one channel a group as the host sees them (kernels/windows/depthwise.cuh).
#pragma once

#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether each channel is a group, with one filter.
inline bool is_depthwise(const Convolution& shape) {
  return shape.groups > 1 && shape.groups == shape.channels && shape.groups == shape.filters;
}

// Backend::convolution of such a shape in one or two dimensions, of Float, Half and BFloat16, where
// all tensors are contiguous; the gradient of the weight for windows of 3 x 3, 5 x 5 and 7 x 7. So
// it does where the weight is, and the channels of images lie last: for windows of 3 x 3 without
// gaps whose steps are 1 or 2 both ways, and multiples of 4 channels. False, and nothing done, for
// others.
bool depthwise_convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                           const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
