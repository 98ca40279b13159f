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

// Each output is the sum of a window of the input times a filter, plus bias. Input (N, in_channels,
// D sizes), output (N, out_channels, D sizes), or both without N. weight (out_channels, in_channels
// / groups, kernel_size...) and bias (out_channels) start uniform in +-1/sqrt(elements of a
// filter), as in PyTorch. padding_mode: the values beyond the border.
// Errors: ValueError for numbers of channels and groups that do not fit, for strides above 1 with
// kSame, and for an undefined input; those of conv1d to conv3d.
template <class Derived, size_t D>
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

// The gradient of a convolution by its input, as a layer: each element spreads over a window of the
// output. Shapes as for ConvImpl, with weight (in_channels, out_channels / groups, kernel_size...).
// Errors: as ConvImpl, and ValueError for a padding_mode other than kZeros and for an output_size
// that the options cannot give.
template <class Derived, size_t D>
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

 protected:
  GRADUS_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::vector<int64_t>>())})
};

GRADUS_LAYER(Conv1d, ConvImpl, 1);
GRADUS_LAYER(Conv2d, ConvImpl, 2);
GRADUS_LAYER(Conv3d, ConvImpl, 3);
GRADUS_LAYER(ConvTranspose1d, ConvTransposeImpl, 1);
GRADUS_LAYER(ConvTranspose2d, ConvTransposeImpl, 2);
GRADUS_LAYER(ConvTranspose3d, ConvTransposeImpl, 3);

extern template struct ConvImpl<Conv1dImpl, 1>;
extern template struct ConvImpl<Conv2dImpl, 2>;
extern template struct ConvImpl<Conv3dImpl, 3>;
extern template struct ConvTransposeImpl<ConvTranspose1dImpl, 1>;
extern template struct ConvTransposeImpl<ConvTranspose2dImpl, 2>;
extern template struct ConvTransposeImpl<ConvTranspose3dImpl, 3>;

}  // namespace nn
}  // namespace gradus
