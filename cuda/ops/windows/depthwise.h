// Convolutions of one channel a group as the host sees them (kernels/windows/depthwise.cuh).
#pragma once

#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether each channel is a group, with one filter.
inline bool is_depthwise(const Convolution& shape) {
  return shape.groups > 1 && shape.groups == shape.channels && shape.groups == shape.filters;
}

// Backend::convolution of such a shape in one or two dimensions, of Float, Half and BFloat16.
// False, and nothing done, for others and for these:
//   - contiguous tensors: gradients of weights but of 3 x 3, 5 x 5 and 7 x 7;
//   - images whose channels lie last: windows but of 3 x 3, gaps, steps that are not 1 or 2 both
//     ways, and channels that are no multiple of 4. The weight is contiguous.
bool depthwise_convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                           const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
