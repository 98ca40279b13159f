// Padding: F::pad, and the modules ReflectionPad, ReplicationPad, CircularPad, ZeroPad and
// ConstantPad.
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
  // pad: {before, after} of the last dimension, then of the one before it, ... Negative numbers cut
  // off. `value` is that of kConstant.
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
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad3dOptions = PadOptions<3>;
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad3dOptions = PadOptions<3>;
using CircularPad1dOptions = PadOptions<1>;
using CircularPad2dOptions = PadOptions<2>;
using CircularPad3dOptions = PadOptions<3>;
using ZeroPad1dOptions = PadOptions<1>;
using ZeroPad2dOptions = PadOptions<2>;
using ZeroPad3dOptions = PadOptions<3>;
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

// The last 1, 2 or 3 dimensions, as the name says, become longer by `padding`. Input (N, C, ...) or
// (C, ...); constants take any number of dimensions before those.
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

GRADUS_LAYER(ReflectionPad1d, PadImpl, ReflectionPad1dOptions, kReflect);
GRADUS_LAYER(ReflectionPad2d, PadImpl, ReflectionPad2dOptions, kReflect);
GRADUS_LAYER(ReflectionPad3d, PadImpl, ReflectionPad3dOptions, kReflect);
GRADUS_LAYER(ReplicationPad1d, PadImpl, ReplicationPad1dOptions, kReplicate);
GRADUS_LAYER(ReplicationPad2d, PadImpl, ReplicationPad2dOptions, kReplicate);
GRADUS_LAYER(ReplicationPad3d, PadImpl, ReplicationPad3dOptions, kReplicate);
GRADUS_LAYER(CircularPad1d, PadImpl, CircularPad1dOptions, kCircular);
GRADUS_LAYER(CircularPad2d, PadImpl, CircularPad2dOptions, kCircular);
GRADUS_LAYER(CircularPad3d, PadImpl, CircularPad3dOptions, kCircular);
GRADUS_LAYER(ZeroPad1d, PadImpl, ZeroPad1dOptions, kConstant);
GRADUS_LAYER(ZeroPad2d, PadImpl, ZeroPad2dOptions, kConstant);
GRADUS_LAYER(ZeroPad3d, PadImpl, ZeroPad3dOptions, kConstant);
GRADUS_LAYER(ConstantPad1d, PadImpl, ConstantPad1dOptions, kConstant);
GRADUS_LAYER(ConstantPad2d, PadImpl, ConstantPad2dOptions, kConstant);
GRADUS_LAYER(ConstantPad3d, PadImpl, ConstantPad3dOptions, kConstant);

}  // namespace nn
}  // namespace gradus
