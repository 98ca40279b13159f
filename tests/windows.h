// Convolutions and pools of random shapes, and a slow, obvious way to compute each part.
#pragma once

#include <array>

#include "gradus/tensor/base/windows.h"
#include "tests/random.h"

namespace gradus::test {

inline Convolution random_convolution(int64_t most_channels, int64_t most_size) {
  Convolution s;
  s.spatial = static_cast<int>(pick(1, 3));
  s.groups = pick(0, 2) == 0 ? pick(2, 3) : 1;
  s.batch = pick(1, 4);
  s.channels = s.groups * pick(1, most_channels);
  s.filters = s.groups * pick(1, most_channels);
  for (int d = kSpatial - s.spatial; d < kSpatial; ++d) {
    WindowDim& w = s.dim[d];
    do {
      const int64_t size = s.spatial == 3 ? std::min<int64_t>(most_size, 8) : most_size;
      w = {pick(1, size), 1, pick(1, 5), pick(1, 3), pick(0, 3), pick(1, 3)};
      w.out = (w.in + 2 * w.padding - (w.kernel - 1) * w.dilation - 1) / w.stride + 1;
    } while (w.in + 2 * w.padding < (w.kernel - 1) * w.dilation + 1);
  }
  return s;
}

inline std::string describe(const Convolution& s) {
  std::string out = "batch " + std::to_string(s.batch) + ", channels " +
                    std::to_string(s.channels) + ", filters " + std::to_string(s.filters) +
                    ", groups " + std::to_string(s.groups);
  for (const WindowDim& w : s.dim)
    out += ", in " + std::to_string(w.in) + " out " + std::to_string(w.out) + " kernel " +
           std::to_string(w.kernel) + " stride " + std::to_string(w.stride) + " padding " +
           std::to_string(w.padding) + " dilation " + std::to_string(w.dilation);
  return out;
}

// The sizes of a part.
inline Dims sizes_of(ConvolutionPass part, const Convolution& s) {
  Dims out = part == ConvolutionPass::wgrad   ? Dims{s.filters, s.group_channels()}
             : part == ConvolutionPass::dgrad ? Dims{s.batch, s.channels}
                                              : Dims{s.batch, s.filters};
  for (int d = kSpatial - s.spatial; d < kSpatial; ++d)
    out.push_back(part == ConvolutionPass::wgrad   ? s.dim[d].kernel
                  : part == ConvolutionPass::dgrad ? s.dim[d].in
                                                   : s.dim[d].out);
  return out;
}

// f(places in output, input and weight) for every product that a convolution sums.
template <class F>
void each_product(const Convolution& s, const F& f) {
  const auto each = [](const WindowDim& w, const auto& g) {
    for (int64_t o = 0; o < w.out; ++o)
      for (int64_t k = 0; k < w.kernel; ++k) {
        const int64_t i = o * w.stride - w.padding + k * w.dilation;
        if (i >= 0 && i < w.in) g(o, i, k);
      }
  };
  const auto flat = [](const std::array<int64_t, 3>& at, int64_t size1, int64_t size2) {
    return (at[0] * size1 + at[1]) * size2 + at[2];
  };
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t filter = 0; filter < s.filters; ++filter)
      for (int64_t c = 0; c < s.group_channels(); ++c)
        each(s.dim[0], [&](int64_t o0, int64_t i0, int64_t k0) {
          each(s.dim[1], [&](int64_t o1, int64_t i1, int64_t k1) {
            each(s.dim[2], [&](int64_t o2, int64_t i2, int64_t k2) {
              const int64_t channel = filter / s.group_filters() * s.group_channels() + c;
              f((n * s.filters + filter) * s.outputs() +
                    flat({o0, o1, o2}, s.dim[1].out, s.dim[2].out),
                (n * s.channels + channel) * s.inputs() +
                    flat({i0, i1, i2}, s.dim[1].in, s.dim[2].in),
                (filter * s.group_channels() + c) * s.taps() +
                    flat({k0, k1, k2}, s.dim[1].kernel, s.dim[2].kernel));
            });
          });
        });
}

// The part as raw::convolution makes it, of float64 and contiguous operands.
inline Tensor slow_convolution(ConvolutionPass part, const Convolution& s, const Tensor& a,
                               const Tensor& b) {
  const Tensor out = raw::empty(sizes_of(part, s), kDouble, kCPU);
  raw::fill_(out, 0);
  double* const to = out.data_ptr<double>();
  const double *x = a.data_ptr<double>(), *y = b.data_ptr<double>();
  each_product(s, [&](int64_t in_output, int64_t in_input, int64_t in_weight) {
    if (part == ConvolutionPass::fprop) to[in_output] += x[in_input] * y[in_weight];
    if (part == ConvolutionPass::dgrad) to[in_input] += x[in_output] * y[in_weight];
    if (part == ConvolutionPass::wgrad) to[in_weight] += x[in_output] * y[in_input];
  });
  return out;
}

inline constexpr std::array kParts = {ConvolutionPass::fprop, ConvolutionPass::dgrad,
                                      ConvolutionPass::wgrad};
inline ConvolutionPass first_operand(ConvolutionPass part) {
  return part == ConvolutionPass::fprop ? ConvolutionPass::dgrad : ConvolutionPass::fprop;
}
inline ConvolutionPass second_operand(ConvolutionPass part) {
  return part == ConvolutionPass::wgrad ? ConvolutionPass::dgrad : ConvolutionPass::wgrad;
}
// How many products an element of the part sums, at most.
inline double terms_of(ConvolutionPass part, const Convolution& s) {
  return static_cast<double>(part == ConvolutionPass::fprop   ? s.group_channels() * s.taps()
                             : part == ConvolutionPass::dgrad ? s.group_filters() * s.taps()
                                                              : s.batch * s.outputs());
}

}  // namespace gradus::test
