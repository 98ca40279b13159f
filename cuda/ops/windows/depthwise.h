// Convolutions of one channel a group as the host sees them (kernels/windows/depthwise.cuh).
#pragma once

#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether each channel is a group, with one filter.
inline bool is_depthwise(const Convolution& shape) {
  return shape.groups > 1 && shape.groups == shape.channels && shape.groups == shape.filters;
}

// Backend::convolution of such a shape in one or two dimensions, of Float, Half and BFloat16; the
// gradient of the weight for windows of 3 x 3, 5 x 5 and 7 x 7 without steps or gaps. False, and
// nothing done, for others. REQUIRES: all tensors are contiguous.
bool depthwise_convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                           const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
