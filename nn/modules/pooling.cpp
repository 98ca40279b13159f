// Pools: the functions of so many dimensions, from their options.
#include "gradus/nn/modules/pooling.h"

namespace gradus::nn::functional {

namespace {

// output_size for this input.
template <size_t D>
std::array<int64_t, D> sizes_of(const Tensor& input, const AdaptivePoolOptions<D>& options) {
  std::array<int64_t, D> out{};
  for (size_t d = 0; d < D; ++d) {
    const std::optional<int64_t> size = options.output_size()[d];
    out[d] = size ? *size : input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D));
  }
  return out;
}

// The average of the powers, times their number, is their sum. relu() lets no gradient through at
// 0, where that of the root is infinite.
template <size_t D>
Tensor norms(const char* op, const Tensor& input, const LPPoolOptions<D>& options) {
  constexpr int kDims = D;
  check(input.operand(op).dim() == kDims + 1 || input.dim() == kDims + 2, op, ": Expected ",
        kDims + 1, "D or ", kDims + 2, "D (batch mode) tensor for input, but got: ", input.sizes(),
        "; use unsqueeze or flatten");
  check(options.norm_type() != 0, op, ": norm_type is 0, and no 0th root exists; give another");
  double count = 1;
  for (const int64_t size : options.kernel_size()) count *= static_cast<double>(size);
  const auto averages = AvgPoolOptions<D>(options.kernel_size())
                            .stride(options.stride())
                            .ceil_mode(options.ceil_mode());
  const Tensor powers = input.pow(options.norm_type());
  Tensor out;
  if constexpr (D == 1) out = avg_pool1d(powers, averages);
  if constexpr (D == 2) out = avg_pool2d(powers, averages);
  if constexpr (D == 3) out = avg_pool3d(powers, averages);
  return (sign(out) * gradus::relu(out.abs())).mul(count).pow(1 / options.norm_type());
}

}  // namespace

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return gradus::avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return gradus::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& options) {
  return gradus::avg_pool3d(input, options.kernel_size(), options.stride(), options.padding(),
                            options.ceil_mode(), options.count_include_pad(),
                            options.divisor_override());
}

#define GRADUS_POOLS(n)                                                                        \
  TensorPair max_pool##n##d_with_indices(const Tensor& input,                                  \
                                         const MaxPool##n##dFuncOptions& options) {            \
    return gradus::max_pool##n##d_with_indices(input, options.kernel_size(), options.stride(), \
                                               options.padding(), options.dilation(),          \
                                               options.ceil_mode());                           \
  }                                                                                            \
  Tensor max_pool##n##d(const Tensor& input, const MaxPool##n##dFuncOptions& options) {        \
    return gradus::max_pool##n##d(input, options.kernel_size(), options.stride(),              \
                                  options.padding(), options.dilation(), options.ceil_mode()); \
  }                                                                                            \
  Tensor adaptive_avg_pool##n##d(const Tensor& input,                                          \
                                 const AdaptiveAvgPool##n##dFuncOptions& options) {            \
    return gradus::adaptive_avg_pool##n##d(input, sizes_of(input, options));                   \
  }                                                                                            \
  TensorPair adaptive_max_pool##n##d_with_indices(                                             \
      const Tensor& input, const AdaptiveMaxPool##n##dFuncOptions& options) {                  \
    return gradus::adaptive_max_pool##n##d(input, sizes_of(input, options));                   \
  }                                                                                            \
  Tensor adaptive_max_pool##n##d(const Tensor& input,                                          \
                                 const AdaptiveMaxPool##n##dFuncOptions& options) {            \
    return std::get<0>(adaptive_max_pool##n##d_with_indices(input, options));                  \
  }                                                                                            \
  Tensor lp_pool##n##d(const Tensor& input, const LPPool##n##dFuncOptions& options) {          \
    return norms("lp_pool" #n "d", input, options);                                            \
  }
GRADUS_POOLS(1)
GRADUS_POOLS(2)
GRADUS_POOLS(3)
#undef GRADUS_POOLS

}  // namespace gradus::nn::functional
