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
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad3dOptions = PadOptions<3>;
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad3dOptions = PadOptions<3>;
using ZeroPad1dOptions = PadOptions<1>;
using ZeroPad2dOptions = PadOptions<2>;
using ZeroPad3dOptions = PadOptions<3>;
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

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

struct ReflectionPad1dImpl : PadImpl<ReflectionPad1dImpl, ReflectionPad1dOptions, kReflect> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReflectionPad1d);
struct ReflectionPad2dImpl : PadImpl<ReflectionPad2dImpl, ReflectionPad2dOptions, kReflect> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReflectionPad2d);
struct ReflectionPad3dImpl : PadImpl<ReflectionPad3dImpl, ReflectionPad3dOptions, kReflect> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReflectionPad3d);
struct ReplicationPad1dImpl : PadImpl<ReplicationPad1dImpl, ReplicationPad1dOptions, kReplicate> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReplicationPad1d);
struct ReplicationPad2dImpl : PadImpl<ReplicationPad2dImpl, ReplicationPad2dOptions, kReplicate> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReplicationPad2d);
struct ReplicationPad3dImpl : PadImpl<ReplicationPad3dImpl, ReplicationPad3dOptions, kReplicate> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ReplicationPad3d);
struct ZeroPad1dImpl : PadImpl<ZeroPad1dImpl, ZeroPad1dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ZeroPad1d);
struct ZeroPad2dImpl : PadImpl<ZeroPad2dImpl, ZeroPad2dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ZeroPad2d);
struct ZeroPad3dImpl : PadImpl<ZeroPad3dImpl, ZeroPad3dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ZeroPad3d);
struct ConstantPad1dImpl : PadImpl<ConstantPad1dImpl, ConstantPad1dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ConstantPad1d);
struct ConstantPad2dImpl : PadImpl<ConstantPad2dImpl, ConstantPad2dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ConstantPad2d);
struct ConstantPad3dImpl : PadImpl<ConstantPad3dImpl, ConstantPad3dOptions, kConstant> {
  using PadImpl::PadImpl;
};
GRADUS_MODULE(ConstantPad3d);

}  // namespace nn
}  // namespace gradus
