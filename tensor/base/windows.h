// The passes of a convolution (fprop, dgrad, wgrad). The windows of convolutions and pools along
// three spatial dimensions, for host and device.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "gradus/tensor/base/host_device.h"

namespace gradus {

// Where fewer dimensions are meant, the first ones have a single window of a single element.
inline constexpr int kSpatial = 3;

// The windows along one dimension of `in` elements. Window o has `kernel` elements, `dilation`
// apart, of which the first is o * stride - padding; some may lie outside. The windows of an
// adaptive pool share the elements out evenly; they overlap where there are more windows than
// elements allow. Index: a type that holds every place; a GPU divides 32 bits several times faster
// than 64.
template <class Index>
struct WindowDimOf {
  Index in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool adaptive = false;

  bool operator==(const WindowDimOf&) const = default;
  // The elements of window o: from `begin`, which may be negative, up to `end`.
  GRADUS_HD constexpr Index begin(Index o) const {
    return adaptive ? o * in / out : o * stride - padding;
  }
  GRADUS_HD constexpr Index end(Index o) const {
    return adaptive ? ((o + 1) * in + out - 1) / out : begin(o) + (kernel - 1) * dilation + 1;
  }
  // The windows that reach over element i: from `first_over` up to `end_over`.
  GRADUS_HD constexpr Index first_over(Index i) const {
    if (adaptive) return i * out / in;
    const Index after = i + padding - (kernel - 1) * dilation;
    return after <= 0 ? 0 : (after + stride - 1) / stride;
  }
  GRADUS_HD constexpr Index end_over(Index i) const {
    if (adaptive) return ((i + 1) * out + in - 1) / in;
    const Index past = (i + padding) / stride + 1;
    return past < out ? past : out;
  }
};
using WindowDim = WindowDimOf<int64_t>;

// A convolution: input (batch, channels, in...), weight (filters, channels / groups, kernel...),
// output (batch, filters, out...). Filters of one group see the channels of that group.
struct Convolution {
  int spatial = 2;  // how many dimensions there are, the last ones of dim
  int64_t batch = 1, channels = 1, filters = 1, groups = 1;
  WindowDim dim[kSpatial];

  bool operator==(const Convolution&) const = default;
  // Elements of a channel of the input, and of a filter of the output.
  GRADUS_HD constexpr int64_t inputs() const { return dim[0].in * dim[1].in * dim[2].in; }
  GRADUS_HD constexpr int64_t outputs() const { return dim[0].out * dim[1].out * dim[2].out; }
  GRADUS_HD constexpr int64_t taps() const { return dim[0].kernel * dim[1].kernel * dim[2].kernel; }
  GRADUS_HD constexpr int64_t group_channels() const { return channels / groups; }
  GRADUS_HD constexpr int64_t group_filters() const { return filters / groups; }
};

// The tensors of a convolution. Each one is bilinear in the other two. fprop takes input and
// weight, dgrad the gradient of the output and weight, wgrad the gradient of the output and input.
enum class ConvolutionPass : uint8_t { fprop, dgrad, wgrad };

// "same" or "valid", as an argument beside numbers: a plain 0 is none.
struct PaddingName {
  template <class Text>
  requires(std::convertible_to<Text, std::string_view> && !std::integral<Text>)
      PaddingName(const Text& text)
      : name(text) {}  // NOLINT: implicit
  std::string_view name;
};

// Pools of planes: x (planes, in...), result (planes, out...).
template <class Index>
struct PoolOf {
  Index planes = 1;
  WindowDimOf<Index> dim[kSpatial];
  // Average pools: `divisor` divides the sum where it is not 0. Otherwise the number of elements of
  // the window does, and counts_padding says whether those of the padding count.
  Index divisor = 0;
  bool counts_padding = true;
  // So many planes lie together in memory, element by element (channels last). `planes` counts such
  // bundles.
  Index channels = 1;

  GRADUS_HD constexpr Index inputs() const { return dim[0].in * dim[1].in * dim[2].in; }
  GRADUS_HD constexpr Index outputs() const { return dim[0].out * dim[1].out * dim[2].out; }
  // The divisor for the sum of the window at these places.
  GRADUS_HD constexpr Index divisor_at(const Index (&o)[kSpatial]) const {
    if (divisor != 0) return divisor;
    Index count = 1;
    for (int d = 0; d < kSpatial; ++d) {
      const bool padded = counts_padding && !dim[d].adaptive;
      const Index low = padded ? -dim[d].padding : 0;
      const Index high = padded ? dim[d].in + dim[d].padding : dim[d].in;
      const Index begin = dim[d].begin(o[d]), end = dim[d].end(o[d]);
      count *= (end < high ? end : high) - (begin > low ? begin : low);
    }
    return count;
  }
};
using Pool = PoolOf<int64_t>;

}  // namespace gradus
