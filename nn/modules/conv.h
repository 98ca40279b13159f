// Conv1d, Conv2d, Conv3d and their transposed forms.
#pragma once

#include "gradus/nn/expanding_array.h"
#include "gradus/nn/layer.h"
#include "gradus/nn/modules/padding.h"

namespace gradus {

// torch::kValid, kSame: paddings by name.
enum class PaddingSize : uint8_t { Valid, Same };
inline constexpr PaddingSize kValid = PaddingSize::Valid, kSame = PaddingSize::Same;

namespace nn {

// Numbers for each dimension, kValid or kSame.
template <size_t D>
struct ConvPadding {
  template <class T>
  requires std::constructible_from<ExpandingArray<D>, T> ConvPadding(T&& numbers)
      : amounts(std::forward<T>(numbers)) {}                           // NOLINT: implicit
  ConvPadding(std::initializer_list<int64_t> list) : amounts(list) {}  // NOLINT: implicit
  ConvPadding(PaddingSize size) : name(size) {}                        // NOLINT: implicit
  bool operator==(const ConvPadding&) const = default;

  ExpandingArray<D> amounts = 0;
  std::optional<PaddingSize> name;
};

template <size_t D>
struct ConvOptions {
  GRADUS_OPTIONS(ConvOptions, ARGUMENT(int64_t, in_channels), ARGUMENT(int64_t, out_channels),
                 ARGUMENT(ExpandingArray<D>, kernel_size), OPTION(ExpandingArray<D>, stride, 1),
                 OPTION(ConvPadding<D>, padding, 0), OPTION(ExpandingArray<D>, dilation, 1),
                 OPTION(int64_t, groups, 1), OPTION(bool, bias, true),
                 OPTION(PaddingMode, padding_mode, kZeros));
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <size_t D>
struct ConvTransposeOptions {
  GRADUS_OPTIONS(ConvTransposeOptions, ARGUMENT(int64_t, in_channels),
                 ARGUMENT(int64_t, out_channels), ARGUMENT(ExpandingArray<D>, kernel_size),
                 OPTION(ExpandingArray<D>, stride, 1), OPTION(ExpandingArray<D>, padding, 0),
                 OPTION(ExpandingArray<D>, output_padding, 0), OPTION(int64_t, groups, 1),
                 OPTION(bool, bias, true), OPTION(ExpandingArray<D>, dilation, 1),
                 OPTION(PaddingMode, padding_mode, kZeros));
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

template <size_t D>
struct ConvFuncOptions {
  GRADUS_OPTIONS(ConvFuncOptions, OPTION(Tensor, bias, {}), OPTION(ExpandingArray<D>, stride, 1),
                 OPTION(ConvPadding<D>, padding, 0), OPTION(ExpandingArray<D>, dilation, 1),
                 OPTION(int64_t, groups, 1));
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
struct ConvTransposeFuncOptions {
  GRADUS_OPTIONS(ConvTransposeFuncOptions, OPTION(Tensor, bias, {}),
                 OPTION(ExpandingArray<D>, stride, 1), OPTION(ExpandingArray<D>, padding, 0),
                 OPTION(ExpandingArray<D>, output_padding, 0), OPTION(int64_t, groups, 1),
                 OPTION(ExpandingArray<D>, dilation, 1));
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& options = {});
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& options = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose3dFuncOptions& options = {});

}  // namespace functional

// Input (N, in_channels, ...) or (in_channels, ...); weight (out_channels, in_channels / groups,
// kernel_size...) and bias (out_channels) start uniform in +-1/sqrt(elements of a filter), as in
// PyTorch. padding_mode: what stands beyond the border.
// Errors: ValueError for numbers of channels and groups, an undefined input, and those of conv1d to
// conv3d.
template <size_t D, class Derived>
struct ConvImpl : Layer<Derived, ConvOptions<D>> {
  using Layer<Derived, ConvOptions<D>>::Layer;
  using Layer<Derived, ConvOptions<D>>::options;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
  typename Layer<Derived, ConvOptions<D>>::CallReset call_reset{*this};
};

// The same for weight (in_channels, out_channels / groups, kernel_size...).
template <size_t D, class Derived>
struct ConvTransposeImpl : Layer<Derived, ConvTransposeOptions<D>> {
  using Layer<Derived, ConvTransposeOptions<D>>::Layer;
  using Layer<Derived, ConvTransposeOptions<D>>::options;
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // output_size: of the spatial dimensions, in place of output_padding.
  Tensor forward(const Tensor& input, const std::optional<std::vector<int64_t>>& output_size = {});

  Tensor weight, bias;
  typename Layer<Derived, ConvTransposeOptions<D>>::CallReset call_reset{*this};
};

struct Conv1dImpl : ConvImpl<1, Conv1dImpl> {
  using ConvImpl::ConvImpl;
};
GRADUS_MODULE(Conv1d);
struct Conv2dImpl : ConvImpl<2, Conv2dImpl> {
  using ConvImpl::ConvImpl;
};
GRADUS_MODULE(Conv2d);
struct Conv3dImpl : ConvImpl<3, Conv3dImpl> {
  using ConvImpl::ConvImpl;
};
GRADUS_MODULE(Conv3d);
struct ConvTranspose1dImpl : ConvTransposeImpl<1, ConvTranspose1dImpl> {
  using ConvTransposeImpl::ConvTransposeImpl;
};
GRADUS_MODULE(ConvTranspose1d);
struct ConvTranspose2dImpl : ConvTransposeImpl<2, ConvTranspose2dImpl> {
  using ConvTransposeImpl::ConvTransposeImpl;
};
GRADUS_MODULE(ConvTranspose2d);
struct ConvTranspose3dImpl : ConvTransposeImpl<3, ConvTranspose3dImpl> {
  using ConvTransposeImpl::ConvTransposeImpl;
};
GRADUS_MODULE(ConvTranspose3d);

extern template struct ConvImpl<1, Conv1dImpl>;
extern template struct ConvImpl<2, Conv2dImpl>;
extern template struct ConvImpl<3, Conv3dImpl>;
extern template struct ConvTransposeImpl<1, ConvTranspose1dImpl>;
extern template struct ConvTransposeImpl<2, ConvTranspose2dImpl>;
extern template struct ConvTransposeImpl<3, ConvTranspose3dImpl>;

}  // namespace nn
}  // namespace gradus
