// The windows of convolutions, pools and folds along one dimension, from their options.
#pragma once

#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/base/windows.h"

namespace gradus::autograd {

// `size` elements with padding at both ends.
// Errors: ValueError above 2^61, so that kernels compute places without overflow.
int64_t padded_size(const char* op, int64_t size, int64_t padding);
// The extent of a window, from its first element to its last. REQUIRES: kernel, dilation >= 1.
// Errors: ValueError where it does not fit.
int64_t window_extent(const char* op, int64_t kernel, int64_t dilation);

// The same windows with steps that are no longer than the padded input. A longer step leaves one
// window, or one element of each, whatever it is; and kernels lay out memory by the step.
WindowDim with_short_steps(const char* op, WindowDim dim);

}  // namespace gradus::autograd
