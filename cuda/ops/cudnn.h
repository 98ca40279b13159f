// cuDNN as a peer of the hand-written convolutions.
#pragma once

#include <optional>

#include "gradus/cuda/ops/convolution.h"
#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether it was chosen.
bool convolves_by_cudnn();
bool convolves_by_wgmma();
// The place of the chosen tile, if one was chosen.
std::optional<size_t> chosen_tile();

// Backend::convolution on the current device and stream.
// Errors: those of set_convolution_kernel() and of a later convolution.
void cudnn_convolution(ConvolutionPass part, const Convolution& shape, const Tensor& a,
                       const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
