// Small convolutions of few filters or channels as the host sees them
// (kernels/windows/convolution_direct.cuh).
#pragma once

#include <optional>

#include "gradus/cuda/ops/windows/convolution_kernel.h"

namespace gradus::cuda {

// Whether convolution_direct is for such a convolution: where it is sooner than products of tiles.
// exact: of float32, which those by tensor cores do not round.
bool is_direct(ConvolutionPass part, const Convolution& shape, bool exact);

// Returns the kernel for such a product, and sets args.direct. Returns nothing where a block has no
// room for it, or where the product has no results. T: float, Half, BFloat16.
template <class T>
std::optional<ConvolutionKernel<T>> direct_convolution(ConvolutionPass part,
                                                       ConvolutionArgs<T>& args);

}  // namespace gradus::cuda
