// Padding: F::pad, and the modules ReflectionPad, ReplicationPad, ZeroPad and ConstantPad.
#pragma once

#include <vector>

#include "gradus/nn/layer.h"

namespace gradus {

// torch::kConstant, kReflect, kReplicate, kCircular: what stands beyond the border. kZeros is
// kConstant's 0, of convolutions and of F::grid_sample, which calls kReplicate kBorder and kReflect
// kReflection.
enum class PaddingMode : uint8_t { Constant, Reflect, Replicate, Circular };
inline constexpr PaddingMode kConstant = PaddingMode::Constant, kReflect = PaddingMode::Reflect,
                             kReplicate = PaddingMode::Replicate, kCircular = PaddingMode::Circular,
                             kZeros = kConstant, kBorder = kReplicate, kReflection = kReflect;

namespace nn {

namespace functional {

struct PadFuncOptions {
  // {before, after} of the last dimension, then of the one before it, ...; negative: cut off.
  // `value` is that of kConstant.
  GRADUS_OPTIONS(PadFuncOptions, ARGUMENT(std::vector<int64_t>, pad),
                 OPTION(PaddingMode, mode, kConstant), OPTION(double, value, 0));
};

// Errors: ValueError where pad does not fit the input, NotImplementedError where the mode is not
// made for so many dimensions.
Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace functional

// padding: one number for all sides, or {before, after} of the last dimension, then of the one
// before it, ...
template <size_t D>
struct PadOptions {
  GRADUS_OPTIONS(PadOptions, ARGUMENT(ExpandingArray<D * 2>, padding));
};
template <size_t D>
struct ConstantPadOptions {
  GRADUS_OPTIONS(ConstantPadOptions, ARGUMENT(ExpandingArray<D * 2>, padding),
                 ARGUMENT(double, value));
};

// Errors: ValueError for an undefined input, and those of F::pad.
template <class Derived, class Options, PaddingMode mode>
struct PadImpl : Layer<Derived, Options> {
  using Layer<Derived, Options>::Layer;
  Tensor forward(const Tensor& input) {
    this->check_defined(input, "input");
    const auto& padding = this->options.padding();
    auto with = functional::PadFuncOptions({padding.begin(), padding.end()}).mode(mode);
    if constexpr (requires { this->options.value(); }) with.value(this->options.value());
    return functional::pad(input, with);
  }
};

#define GRADUS_PAD(Name, OptionsOfD, mode)                           \
  using Name##Options = OptionsOfD;                                  \
  struct Name##Impl : PadImpl<Name##Impl, Name##Options, mode> {     \
    using PadImpl::PadImpl;                                          \
  };                                                                 \
  GRADUS_MODULE(Name)
GRADUS_PAD(ReflectionPad1d, PadOptions<1>, kReflect);
GRADUS_PAD(ReflectionPad2d, PadOptions<2>, kReflect);
GRADUS_PAD(ReflectionPad3d, PadOptions<3>, kReflect);
GRADUS_PAD(ReplicationPad1d, PadOptions<1>, kReplicate);
GRADUS_PAD(ReplicationPad2d, PadOptions<2>, kReplicate);
GRADUS_PAD(ReplicationPad3d, PadOptions<3>, kReplicate);
GRADUS_PAD(ZeroPad1d, PadOptions<1>, kConstant);
GRADUS_PAD(ZeroPad2d, PadOptions<2>, kConstant);
GRADUS_PAD(ZeroPad3d, PadOptions<3>, kConstant);
GRADUS_PAD(ConstantPad1d, ConstantPadOptions<1>, kConstant);
GRADUS_PAD(ConstantPad2d, ConstantPadOptions<2>, kConstant);
GRADUS_PAD(ConstantPad3d, ConstantPadOptions<3>, kConstant);
#undef GRADUS_PAD

}  // namespace nn
}  // namespace gradus
