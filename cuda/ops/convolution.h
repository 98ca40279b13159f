// The choice of the kernels that a convolution on a GPU runs, for the whole process.
//
// The environment variable GRADUS_CONVOLUTION=name makes it at the start.
#pragma once

#include <string_view>

#include "gradus/tensor/shape.h"

namespace gradus::cuda {

// "automatic" is the kernels of Gradus, "cudnn" the peer to compare with. The others are
// "automatic" with one of its kernels for half types and TF32: "wgmma", which takes what it can on
// a GPU of compute capability 9.0, or the tiles "large_tiles", "narrow_tiles", "small_tiles".
ArrayRef<std::string_view> convolution_kernels();

// The one in use; "automatic" unless set, which never runs cuDNN.
// Errors: ValueError where GRADUS_CONVOLUTION names none.
std::string_view convolution_kernel();

// Convolutions and their gradients are those of cuDNN where the name is "cudnn". It takes the
// deterministic algorithm that cuDNN holds for the fastest, in the arithmetic of the dtype (no
// TF32).
// Errors: ValueError for an unknown name, which lists the names. Error where cuDNN is not
// installed, and on simulated devices. A later convolution is an Error where cuDNN has no such
// algorithm, or a graph is captured.
void set_convolution_kernel(std::string_view name);

}  // namespace gradus::cuda
