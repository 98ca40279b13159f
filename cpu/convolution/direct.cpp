// Direct convolution: each product where its elements lie, without a copy of the input. The way is
// slow. It takes the shapes whose padded image memory could not hold: few windows, far apart.
#include <algorithm>

#include "gradus/cpu/convolution/convolution.h"
#include "gradus/cpu/convolution/padded_image.h"
#include "gradus/cpu/parallel.h"

namespace gradus::cpu {

namespace {

// f(window, tap, element of a channel) for each tap of each window that lies within the input.
template <class F>
void each_tap(const Convolution& s, const F& f) {
  const auto along = [&](int d, int64_t o, const auto& inside) {
    const WindowDim& w = s.dim[d];
    for (int64_t k = 0; k < w.kernel; ++k)
      if (const int64_t i = w.begin(o) + k * w.dilation; i >= 0 && i < w.in) inside(k, i);
  };
  int64_t window = 0;
  for (int64_t o0 = 0; o0 < s.dim[0].out; ++o0)
    for (int64_t o1 = 0; o1 < s.dim[1].out; ++o1)
      for (int64_t o2 = 0; o2 < s.dim[2].out; ++o2, ++window)
        along(0, o0, [&](int64_t k0, int64_t i0) {
          along(1, o1, [&](int64_t k1, int64_t i1) {
            along(2, o2, [&](int64_t k2, int64_t i2) {
              f(window, (k0 * s.dim[1].kernel + k1) * s.dim[2].kernel + k2,
                (i0 * s.dim[1].in + i1) * s.dim[2].in + i2);
            });
          });
        });
}

// f(filter, channel of its group) for each pair that meets.
template <class F>
void each_pair(const Convolution& s, int64_t group, const F& f) {
  for (int64_t r = 0; r < s.group_filters(); ++r)
    for (int64_t c = 0; c < s.group_channels(); ++c) f(group * s.group_filters() + r, c);
}

template <class T>
void direct_output(const Convolution& s, const T* input, const T* weight, const T* bias, T* out) {
  parallel_for(0, s.batch * s.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / s.groups, group = i % s.groups;
      for (int64_t r = group * s.group_filters(); r < (group + 1) * s.group_filters(); ++r)
        std::fill_n(out + (n * s.filters + r) * s.outputs(), s.outputs(), bias ? bias[r] : T(0));
      each_pair(s, group, [&](int64_t r, int64_t c) {
        const T* const x = input + (i * s.group_channels() + c) * s.inputs();
        const T* const w = weight + (r * s.group_channels() + c) * s.taps();
        T* const to = out + (n * s.filters + r) * s.outputs();
        each_tap(s, [&](int64_t o, int64_t tap, int64_t e) { to[o] += w[tap] * x[e]; });
      });
    }
  });
}

template <class T>
void direct_input(const Convolution& s, const T* grad, const T* weight, T* out) {
  parallel_for(0, s.batch * s.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / s.groups, group = i % s.groups;
      T* const first = out + i * s.group_channels() * s.inputs();
      std::fill_n(first, s.group_channels() * s.inputs(), T(0));
      each_pair(s, group, [&](int64_t r, int64_t c) {
        const T* const g = grad + (n * s.filters + r) * s.outputs();
        const T* const w = weight + (r * s.group_channels() + c) * s.taps();
        T* const to = first + c * s.inputs();
        each_tap(s, [&](int64_t o, int64_t tap, int64_t e) { to[e] += w[tap] * g[o]; });
      });
    }
  });
}

template <class T>
void direct_weight(const Convolution& s, const T* grad, const T* input, T* out) {
  std::fill_n(out, s.filters * s.group_channels() * s.taps(), T(0));
  parallel_for(0, s.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      for (int64_t n = 0; n < s.batch; ++n)
        each_pair(s, group, [&](int64_t r, int64_t c) {
          const T* const g = grad + (n * s.filters + r) * s.outputs();
          const T* const x = input + ((n * s.groups + group) * s.group_channels() + c) * s.inputs();
          T* const to = out + (r * s.group_channels() + c) * s.taps();
          each_tap(s, [&](int64_t o, int64_t tap, int64_t e) { to[tap] += g[o] * x[e]; });
        });
  });
}

// A double, since the size may be more than an int64 counts.
double size_of(const PaddedImage& image) {
  double out = 1;
  for (const ImageDim& dim : image.dim)
    out *= static_cast<double>(dim.images) * static_cast<double>(dim.length);
  return out;
}

}  // namespace

template <class T>
const ConvolutionWay<T>* direct_way(const Convolution& s) {
  constexpr double kLarge = 1 << 20, kTimes = 8;
  static constexpr ConvolutionWay<T> way = {direct_output<T>, direct_input<T>, direct_weight<T>};
  const double image = std::max(size_of(image_of_input(s)), size_of(image_of_output(s)));
  const double used = static_cast<double>(s.inputs()) +
                      static_cast<double>(s.taps()) * static_cast<double>(s.outputs());
  return image > kLarge && image > kTimes * used ? &way : nullptr;
}
template const ConvolutionWay<float>* direct_way(const Convolution&);
template const ConvolutionWay<double>* direct_way(const Convolution&);

}  // namespace gradus::cpu
