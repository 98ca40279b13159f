// Convolutions by wgmma as the host sees them (kernels/hopper/convolution_wgmma.cuh).
#pragma once

#include <vector>

#include "gradus/cuda/kernels/windows/convolution_channels_last.cuh"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Makes the products of a pass on the current device and stream. `weight` has the shape (filters,
// channels, height, width) and any strides. Returns false, and does nothing, where this is no
// Hopper, where the products do not suit it, where a model says that it takes longer than
// `time_of_others`, in seconds, or where a tile was chosen by name.
// REQUIRES: the products are those of one group, and of channels_last_convolution().
template <class T>
bool wgmma_convolution(ConvolutionPass pass, const Convolution& shape,
                       const std::vector<ChannelsLastArgs<T>>& products, const Tensor& weight,
                       double time_of_others);

// The gradient of the weight in float32, as exact as that of multiply-add units: out (filters,
// channels, ...) from grad and input, all contiguous. False, and nothing done, as above.
bool split_weight_gradient(const Convolution& shape, const Tensor& grad, const Tensor& input,
                           const Tensor& out);

}  // namespace gradus::cuda
