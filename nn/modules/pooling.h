// Pools of maxima and averages, plain and adaptive, in 1 to 3 dimensions.
#pragma once

#include "gradus/nn/layer.h"

namespace gradus::nn {

// stride: kernel_size unless set.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(const ExpandingArray<D>& kernel_size)  // NOLINT: implicit
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  auto fields() const {
    using Numbers = NamedOption<ExpandingArray<D>>;
    return std::make_tuple(Numbers{"kernel_size", kernel_size_}, Numbers{"stride", stride_},
                           Numbers{"padding", padding_}, Numbers{"dilation", dilation_},
                           NamedOption<bool>{"ceil_mode", ceil_mode_});
  }
  bool operator==(const MaxPoolOptions& other) const { return fields() == other.fields(); }

  GRADUS_OPTION(MaxPoolOptions, ExpandingArray<D>, kernel_size);
  GRADUS_OPTION(MaxPoolOptions, ExpandingArray<D>, stride);
  GRADUS_OPTION(MaxPoolOptions, ExpandingArray<D>, padding) = 0;
  GRADUS_OPTION(MaxPoolOptions, ExpandingArray<D>, dilation) = 1;
  GRADUS_OPTION(MaxPoolOptions, bool, ceil_mode) = false;
};

template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(const ExpandingArray<D>& kernel_size)  // NOLINT: implicit
      : kernel_size_(kernel_size), stride_(kernel_size) {}
  // What is printed.
  auto fields() const {
    using Numbers = NamedOption<ExpandingArray<D>>;
    return std::make_tuple(Numbers{"kernel_size", kernel_size_}, Numbers{"stride", stride_},
                           Numbers{"padding", padding_});
  }
  bool operator==(const AvgPoolOptions& other) const {
    return fields() == other.fields() && ceil_mode_ == other.ceil_mode_ &&
           count_include_pad_ == other.count_include_pad_ &&
           divisor_override_ == other.divisor_override_;
  }

  GRADUS_OPTION(AvgPoolOptions, ExpandingArray<D>, kernel_size);
  GRADUS_OPTION(AvgPoolOptions, ExpandingArray<D>, stride);
  GRADUS_OPTION(AvgPoolOptions, ExpandingArray<D>, padding) = 0;
  GRADUS_OPTION(AvgPoolOptions, bool, ceil_mode) = false;
  GRADUS_OPTION(AvgPoolOptions, bool, count_include_pad) = true;
  // Of 2 and 3 dimensions.
  GRADUS_OPTION(AvgPoolOptions, std::optional<int64_t>, divisor_override) = std::nullopt;
};

// In more than one dimension a size may be nullopt: that of the input.
template <size_t D>
struct AdaptivePoolOptions {
  using Sizes = std::conditional_t<D == 1, ExpandingArray<1>, ExpandingArrayWithOptionalElem<D>>;
  GRADUS_OPTIONS(AdaptivePoolOptions, ARGUMENT(Sizes, output_size));
};

namespace detail {
// output_size for this input.
template <size_t D>
std::array<int64_t, D> output_size(const Tensor& input, const AdaptivePoolOptions<D>& options) {
  std::array<int64_t, D> out{};
  for (size_t d = 0; d < D; ++d) {
    const std::optional<int64_t> size = options.output_size()[d];
    out[d] = size ? *size : input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D));
  }
  return out;
}
}  // namespace detail

// The pool of the norms of windows, (sum of x^norm_type)^(1 / norm_type).
// stride: kernel_size unless set.
template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, const ExpandingArray<D>& kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  auto fields() const {
    using Numbers = NamedOption<ExpandingArray<D>>;
    return std::make_tuple(NamedOption<double>{"norm_type", norm_type_},
                           Numbers{"kernel_size", kernel_size_}, Numbers{"stride", stride_},
                           NamedOption<bool>{"ceil_mode", ceil_mode_});
  }
  bool operator==(const LPPoolOptions& other) const { return fields() == other.fields(); }

  GRADUS_OPTION(LPPoolOptions, double, norm_type);
  GRADUS_OPTION(LPPoolOptions, ExpandingArray<D>, kernel_size);
  GRADUS_OPTION(LPPoolOptions, ExpandingArray<D>, stride);
  GRADUS_OPTION(LPPoolOptions, bool, ceil_mode) = false;
};
namespace detail {
// From the average of the powers over windows. Odd powers can have a sum below 0, whose root is
// NaN.
template <size_t D>
Tensor norm_from_average(const Tensor& average, const LPPoolOptions<D>& options) {
  double count = 1;
  for (const int64_t size : options.kernel_size()) count *= static_cast<double>(size);
  return average.mul(count).pow(1 / options.norm_type());
}
}  // namespace detail
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

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

// The largest element of each window, and where it is.
inline TensorPair max_pool1d_with_indices(const Tensor& input,
                                          const MaxPool1dFuncOptions& options) {
  return gradus::max_pool1d_with_indices(input, options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
inline Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return std::get<0>(functional::max_pool1d_with_indices(input, options));
}
// The largest element of each window, and where it is.
inline TensorPair max_pool2d_with_indices(const Tensor& input,
                                          const MaxPool2dFuncOptions& options) {
  return gradus::max_pool2d_with_indices(input, options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
inline Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return std::get<0>(functional::max_pool2d_with_indices(input, options));
}
// The largest element of each window, and where it is.
inline TensorPair max_pool3d_with_indices(const Tensor& input,
                                          const MaxPool3dFuncOptions& options) {
  return gradus::max_pool3d_with_indices(input, options.kernel_size(), options.stride(),
                                         options.padding(), options.dilation(),
                                         options.ceil_mode());
}
inline Tensor max_pool3d(const Tensor& input, const MaxPool3dFuncOptions& options) {
  return std::get<0>(functional::max_pool3d_with_indices(input, options));
}
inline Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return gradus::avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad());
}
inline Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return gradus::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}
inline Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return gradus::avg_pool3d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}
inline Tensor adaptive_avg_pool1d(const Tensor& input,
                                  const AdaptiveAvgPool1dFuncOptions& options) {
  return gradus::adaptive_avg_pool1d(input, detail::output_size(input, options));
}
inline Tensor adaptive_avg_pool2d(const Tensor& input,
                                  const AdaptiveAvgPool2dFuncOptions& options) {
  return gradus::adaptive_avg_pool2d(input, detail::output_size(input, options));
}
inline Tensor adaptive_avg_pool3d(const Tensor& input,
                                  const AdaptiveAvgPool3dFuncOptions& options) {
  return gradus::adaptive_avg_pool3d(input, detail::output_size(input, options));
}
inline TensorPair adaptive_max_pool1d_with_indices(const Tensor& input,
                                                   const AdaptiveMaxPool1dFuncOptions& options) {
  return gradus::adaptive_max_pool1d(input, detail::output_size(input, options));
}
inline Tensor adaptive_max_pool1d(const Tensor& input,
                                  const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool1d_with_indices(input, options));
}
inline TensorPair adaptive_max_pool2d_with_indices(const Tensor& input,
                                                   const AdaptiveMaxPool2dFuncOptions& options) {
  return gradus::adaptive_max_pool2d(input, detail::output_size(input, options));
}
inline Tensor adaptive_max_pool2d(const Tensor& input,
                                  const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool2d_with_indices(input, options));
}
inline TensorPair adaptive_max_pool3d_with_indices(const Tensor& input,
                                                   const AdaptiveMaxPool3dFuncOptions& options) {
  return gradus::adaptive_max_pool3d(input, detail::output_size(input, options));
}
inline Tensor adaptive_max_pool3d(const Tensor& input,
                                  const AdaptiveMaxPool3dFuncOptions& options) {
  return std::get<0>(functional::adaptive_max_pool3d_with_indices(input, options));
}

using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;

inline Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& options) {
  return detail::norm_from_average(
      gradus::avg_pool1d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0,
                         options.ceil_mode()),
      options);
}
inline Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& options) {
  return detail::norm_from_average(
      gradus::avg_pool2d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0,
                         options.ceil_mode()),
      options);
}
inline Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& options) {
  return detail::norm_from_average(
      gradus::avg_pool3d(input.pow(options.norm_type()), options.kernel_size(), options.stride(), 0,
                         options.ceil_mode()),
      options);
}

}  // namespace functional

// Errors: ValueError for an undefined input, and those of the function.
template <class Derived, class Options, auto function>
struct PoolImpl : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  Tensor forward(const Tensor& input) {
    this->check_defined(input, "input");
    return function(input, this->options);
  }
};

template <class Derived, class Options, auto function>
struct PoolWithIndicesImpl : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  Tensor forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
  TensorPair forward_with_indices(const Tensor& input) {
    this->check_defined(input, "input");
    return function(input, this->options);
  }
};

struct MaxPool1dImpl
    : PoolWithIndicesImpl<MaxPool1dImpl, MaxPool1dOptions, functional::max_pool1d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(MaxPool1d);
struct MaxPool2dImpl
    : PoolWithIndicesImpl<MaxPool2dImpl, MaxPool2dOptions, functional::max_pool2d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(MaxPool2d);
struct MaxPool3dImpl
    : PoolWithIndicesImpl<MaxPool3dImpl, MaxPool3dOptions, functional::max_pool3d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(MaxPool3d);
struct AvgPool1dImpl : PoolImpl<AvgPool1dImpl, AvgPool1dOptions, functional::avg_pool1d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AvgPool1d);
struct AvgPool2dImpl : PoolImpl<AvgPool2dImpl, AvgPool2dOptions, functional::avg_pool2d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AvgPool2d);
struct AvgPool3dImpl : PoolImpl<AvgPool3dImpl, AvgPool3dOptions, functional::avg_pool3d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AvgPool3d);
struct AdaptiveAvgPool1dImpl
    : PoolImpl<AdaptiveAvgPool1dImpl, AdaptiveAvgPool1dOptions, functional::adaptive_avg_pool1d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AdaptiveAvgPool1d);
struct AdaptiveAvgPool2dImpl
    : PoolImpl<AdaptiveAvgPool2dImpl, AdaptiveAvgPool2dOptions, functional::adaptive_avg_pool2d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AdaptiveAvgPool2d);
struct AdaptiveAvgPool3dImpl
    : PoolImpl<AdaptiveAvgPool3dImpl, AdaptiveAvgPool3dOptions, functional::adaptive_avg_pool3d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(AdaptiveAvgPool3d);
struct AdaptiveMaxPool1dImpl : PoolWithIndicesImpl<AdaptiveMaxPool1dImpl, AdaptiveMaxPool1dOptions,
                                                   functional::adaptive_max_pool1d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(AdaptiveMaxPool1d);
struct AdaptiveMaxPool2dImpl : PoolWithIndicesImpl<AdaptiveMaxPool2dImpl, AdaptiveMaxPool2dOptions,
                                                   functional::adaptive_max_pool2d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(AdaptiveMaxPool2d);
struct AdaptiveMaxPool3dImpl : PoolWithIndicesImpl<AdaptiveMaxPool3dImpl, AdaptiveMaxPool3dOptions,
                                                   functional::adaptive_max_pool3d_with_indices> {
  using PoolWithIndicesImpl::PoolWithIndicesImpl;
};
GRADUS_MODULE(AdaptiveMaxPool3d);

struct LPPool1dImpl : PoolImpl<LPPool1dImpl, LPPool1dOptions, functional::lp_pool1d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(LPPool1d);
struct LPPool2dImpl : PoolImpl<LPPool2dImpl, LPPool2dOptions, functional::lp_pool2d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(LPPool2d);
struct LPPool3dImpl : PoolImpl<LPPool3dImpl, LPPool3dOptions, functional::lp_pool3d> {
  using PoolImpl::PoolImpl;
};
GRADUS_MODULE(LPPool3d);

}  // namespace gradus::nn
