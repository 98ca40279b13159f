// Pools of maxima, averages and norms, plain and adaptive, in 1 to 3 dimensions.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// stride: kernel_size unless set. ceil_mode: a last window may begin in the input and end beyond
// it.
template <size_t D>
struct MaxPoolOptions {
  GRADUS_OPTIONS(MaxPoolOptions, ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, kernel_size_),
                 OPTION(ExpandingArray<D>, padding, 0), OPTION(ExpandingArray<D>, dilation, 1),
                 NAMED(bool, ceil_mode, false));  // Python's return_indices stands in this place
};

// count_include_pad: padding counts among the elements of a window. divisor_override, in 2 and 3
// dimensions: the number that sums are divided by instead.
template <size_t D>
struct AvgPoolOptions {
  GRADUS_OPTIONS(AvgPoolOptions, ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, kernel_size_),
                 OPTION(ExpandingArray<D>, padding, 0), HIDDEN(bool, ceil_mode, false),
                 HIDDEN(bool, count_include_pad, true),
                 HIDDEN(std::optional<int64_t>, divisor_override, {}));
};

// A size may be nullopt where there is more than one dimension: then it is that of the input.
template <size_t D>
struct AdaptivePoolOptions {
  using Sizes = std::conditional_t<D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>;
  GRADUS_OPTIONS(AdaptivePoolOptions, ARGUMENT(Sizes, output_size));
};

template <size_t D>
struct LPPoolOptions {
  GRADUS_OPTIONS(LPPoolOptions, ARGUMENT(double, norm_type),
                 ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, kernel_size_), OPTION(bool, ceil_mode, false));
};

using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<3>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<3>;
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

// Input (N, C, spatial dimensions) or (C, spatial dimensions).
// Errors: ValueError for another number of dimensions, for windows that do not fit, and for options
// out of range; TypeError for dtypes.
namespace functional {

using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;

// The largest element of each window, and with_indices where it is.
TensorPair max_pool1d_with_indices(const Tensor& input, const MaxPool1dFuncOptions& options);
Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options);
TensorPair max_pool2d_with_indices(const Tensor& input, const MaxPool2dFuncOptions& options);
Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
TensorPair max_pool3d_with_indices(const Tensor& input, const MaxPool3dFuncOptions& options);
Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options);
// The mean of each window.
Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options);
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options);
// The same of output_size windows, which share out the input.
Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options);
Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options);
Tensor adaptive_avg_pool3d(const Tensor& input, const AdaptiveAvgPool3dFuncOptions& options);
TensorPair adaptive_max_pool1d_with_indices(const Tensor& input,
                                            const AdaptiveMaxPool1dFuncOptions& options);
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
TensorPair adaptive_max_pool2d_with_indices(const Tensor& input,
                                            const AdaptiveMaxPool2dFuncOptions& options);
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
TensorPair adaptive_max_pool3d_with_indices(const Tensor& input,
                                            const AdaptiveMaxPool3dFuncOptions& options);
Tensor adaptive_max_pool3d(const Tensor& input, const AdaptiveMaxPool3dFuncOptions& options);
// The norm of each window, (sum of x^norm_type)^(1 / norm_type). Odd powers can have a sum below 0,
// whose root is NaN.
Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options);
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options);
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options);

}  // namespace functional

// A pool that also says where its elements come from: forward_with_indices returns them beside the
// output, as int64 places in a channel.
// Errors: ValueError for an undefined input, and those of the function.
template <class Derived, class Options, auto function, auto with_indices>
struct PoolWithIndices : FunctionLayer<Derived, Options, function> {
  using FunctionLayer<Derived, Options, function>::FunctionLayer;
  TensorPair forward_with_indices(const Tensor& input) {
    this->check_defined(input, "input");
    return with_indices(input, this->options);
  }
};

GRADUS_LAYER(MaxPool1d, PoolWithIndices, MaxPool1dOptions, functional::max_pool1d,
             functional::max_pool1d_with_indices);
GRADUS_LAYER(MaxPool2d, PoolWithIndices, MaxPool2dOptions, functional::max_pool2d,
             functional::max_pool2d_with_indices);
GRADUS_LAYER(MaxPool3d, PoolWithIndices, MaxPool3dOptions, functional::max_pool3d,
             functional::max_pool3d_with_indices);
GRADUS_LAYER(AvgPool1d, FunctionLayer, AvgPool1dOptions, functional::avg_pool1d);
GRADUS_LAYER(AvgPool2d, FunctionLayer, AvgPool2dOptions, functional::avg_pool2d);
GRADUS_LAYER(AvgPool3d, FunctionLayer, AvgPool3dOptions, functional::avg_pool3d);
GRADUS_LAYER(AdaptiveAvgPool1d, FunctionLayer, AdaptiveAvgPool1dOptions,
             functional::adaptive_avg_pool1d);
GRADUS_LAYER(AdaptiveAvgPool2d, FunctionLayer, AdaptiveAvgPool2dOptions,
             functional::adaptive_avg_pool2d);
GRADUS_LAYER(AdaptiveAvgPool3d, FunctionLayer, AdaptiveAvgPool3dOptions,
             functional::adaptive_avg_pool3d);
GRADUS_LAYER(AdaptiveMaxPool1d, PoolWithIndices, AdaptiveMaxPool1dOptions,
             functional::adaptive_max_pool1d, functional::adaptive_max_pool1d_with_indices);
GRADUS_LAYER(AdaptiveMaxPool2d, PoolWithIndices, AdaptiveMaxPool2dOptions,
             functional::adaptive_max_pool2d, functional::adaptive_max_pool2d_with_indices);
GRADUS_LAYER(AdaptiveMaxPool3d, PoolWithIndices, AdaptiveMaxPool3dOptions,
             functional::adaptive_max_pool3d, functional::adaptive_max_pool3d_with_indices);
GRADUS_LAYER(LPPool1d, FunctionLayer, LPPool1dOptions, functional::lp_pool1d);
GRADUS_LAYER(LPPool2d, FunctionLayer, LPPool2dOptions, functional::lp_pool2d);
GRADUS_LAYER(LPPool3d, FunctionLayer, LPPool3dOptions, functional::lp_pool3d);

}  // namespace gradus::nn
