// Fold and Unfold: images as columns of the elements of their windows, and back.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

struct UnfoldOptions {
  GRADUS_OPTIONS(UnfoldOptions, ARGUMENT(ExpandingArray<2>, kernel_size),
                 OPTION(ExpandingArray<2>, dilation, 1), OPTION(ExpandingArray<2>, padding, 0),
                 OPTION(ExpandingArray<2>, stride, 1));
};
struct FoldOptions {
  GRADUS_OPTIONS(FoldOptions, ARGUMENT(ExpandingArray<2>, output_size),
                 ARGUMENT(ExpandingArray<2>, kernel_size), OPTION(ExpandingArray<2>, dilation, 1),
                 OPTION(ExpandingArray<2>, padding, 0), OPTION(ExpandingArray<2>, stride, 1));
};

namespace functional {

using UnfoldFuncOptions = UnfoldOptions;
using FoldFuncOptions = FoldOptions;

// (N, C, H, W) -> (N, C * elements of a window, windows).
// Errors: ValueError for another number of dimensions, and a window that does not fit.
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
// (N, C * elements of a window, windows) -> (N, C, H, W) of output_size, also without N; elements
// of several windows are added. Errors: ValueError for another shape.
Tensor fold(const Tensor& input, const FoldFuncOptions& options);

}  // namespace functional

// Shapes and errors of both are those of the functions.
GRADUS_LAYER(Unfold, FunctionLayer, UnfoldOptions, functional::unfold);
GRADUS_LAYER(Fold, FunctionLayer, FoldOptions, functional::fold);

}  // namespace gradus::nn
