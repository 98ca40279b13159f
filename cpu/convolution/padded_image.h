// The copy of some channels in which every window of a convolution lies alike. The tap t of the
// window at place p is element offset(t) + p, so kernels read neighbouring places side by side.
//
// Zeros stand where the padding is. A stride splits the copy into as many images. The elements that
// tap 0 of all windows sees lie in the first image one after the other, and so on.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/matmul/pack.h"
#include "gradus/tensor/base/windows.h"

namespace gradus::cpu {

// to[i] = from[i] along a line of an image.
template <class T>
[[gnu::always_inline]] inline void copy_along(const T* from, int64_t count, T* to) {
  constexpr int64_t kMany = 32;
  if (count > kMany)
    std::copy_n(from, count, to);
  else
    copy_few(from, count, to);
}

// to[i * apart] = x[i * step], of which one is 1. Strides of 2 are common. The last vector reaches
// back over the one before.
template <class T>
void copy_line(const T* x, int64_t count, int64_t step, T* to, int64_t apart) {
  typedef T Vector __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  constexpr int64_t kLanes = kBlock<T>;
  if (step == 1 && apart == 1) return copy_along(x, count, to);
  if (count < kLanes || std::max(step, apart) > 2) {
    for (int64_t i = 0; i < count; ++i) to[i * apart] = x[i * step];
    return;
  }
  const auto get = [x](int64_t at) { return *reinterpret_cast<const Vector*>(x + at); };
  const auto put = [to](int64_t at, const Vector& v) { *reinterpret_cast<Vector*>(to + at) = v; };
  const auto copy_lanes = [&](int64_t i) {
    if (step == 2) {
      const Vector a = get(2 * i), b = get(2 * i + kLanes - 1);
      if constexpr (kLanes == 4)
        put(i, __builtin_shufflevector(a, b, 0, 2, 5, 7));
      else
        put(i, __builtin_shufflevector(a, b, 0, 3));
    } else {
      const Vector a = get(i), zeros = {};
      if constexpr (kLanes == 4) {
        put(2 * i, __builtin_shufflevector(a, zeros, 0, 4, 1, 5));
        put(2 * i + kLanes - 1, __builtin_shufflevector(a, zeros, 4, 2, 5, 3));
      } else {
        put(2 * i, __builtin_shufflevector(a, zeros, 0, 2));
        put(2 * i + kLanes - 1, __builtin_shufflevector(a, zeros, 2, 1));
      }
    }
  };
  for (int64_t i = 0; i + kLanes < count; i += kLanes) copy_lanes(i);
  copy_lanes(count - kLanes);
}

// One dimension. Element i of `size` comes to place q = i * spread + before of the padded
// dimension, if that is not outside; place q is element q / images of image q % images.
struct ImageDim {
  int64_t size, spread, before, images, length;  // length: of an image

  // The image of place q, and where it lies there. A short line would wait for divisions.
  std::pair<int64_t, int64_t> image_and_place(int64_t q) const {
    if (images == 1) return {0, q};
    if (images == 2) return {q & 1, q >> 1};
    return {q % images, q / images};
  }
};

// Memory of the CPU's blocks. Errors: OutOfMemoryError.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : memory_(cpu_backend().allocate(static_cast<size_t>(count) * sizeof(T), Device(kCPU))) {}
  T* data() const { return static_cast<T*>(memory_->data()); }

 private:
  StoragePtr memory_;
};

// REQUIRES: of spread and images one is 1.
struct PaddedImage {
  ImageDim dim[kSpatial];

  int64_t image() const { return dim[0].length * dim[1].length * dim[2].length; }
  int64_t channel() const { return image() * dim[0].images * dim[1].images * dim[2].images; }

  int64_t elements() const { return dim[0].size * dim[1].size * dim[2].size; }

  // The distance from the first window to the last, where there are `places` windows in each
  // dimension.
  int64_t reach(const int64_t (&places)[kSpatial]) const {
    return ((places[0] - 1) * dim[1].length + places[1] - 1) * dim[2].length + places[2] - 1;
  }

  // Where padded place q lies, in its channel.
  int64_t offset(int64_t q0, int64_t q1, int64_t q2) const {
    const auto [w0, p0] = dim[0].image_and_place(q0);
    const auto [w1, p1] = dim[1].image_and_place(q1);
    const auto [w2, p2] = dim[2].image_and_place(q2);
    return ((w0 * dim[1].images + w1) * dim[2].images + w2) * image() +
           (p0 * dim[1].length + p1) * dim[2].length + p2;
  }

  // The taps of all channels, by windows of this shape, with `more` of the last one at the end.
  std::vector<int64_t> taps(int64_t channels, const WindowDim (&window)[kSpatial],
                            int64_t more) const {
    std::vector<int64_t> out;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < window[0].kernel; ++i)
        for (int64_t j = 0; j < window[1].kernel; ++j)
          for (int64_t k = 0; k < window[2].kernel; ++k)
            out.push_back(c * channel() + offset(i * window[0].dilation, j * window[1].dilation,
                                                 k * window[2].dilation));
    out.insert(out.end(), static_cast<size_t>(more), out.back());
    return out;
  }

  // f(first element of a channel, how many, their step, where the copies lie, their step) for lines
  // of those that are not cut off.
  template <class F>
  void each_line(const F& f) const {
    // Locals, since the compiler takes a vector that is written for a part of the image.
    const ImageDim depth = dim[0], column = dim[1], row = dim[2];
    const int64_t size = image(), padded = row.images * row.length;
    const int64_t first = row.before >= 0 ? 0 : (-row.before + row.spread - 1) / row.spread;
    const int64_t last =
        padded <= row.before ? 0 : std::min(row.size, (padded - row.before - 1) / row.spread + 1);
    for (int64_t which = 0; which < row.images; ++which) {
      // The first element that comes to this image of the line, and where.
      int64_t k = first, at = row.before + first * row.spread;
      if (row.images > 1) {
        k += (which + row.images - at % row.images) % row.images;
        at = which * size + (k + row.before) / row.images;
      }
      if (k >= last) continue;
      const int64_t count = (last - k - 1) / row.images + 1;
      int64_t from = k;
      for (int64_t i = 0; i < depth.size; ++i)
        for (int64_t j = 0; j < column.size; ++j, from += row.size) {
          const int64_t q0 = i * depth.spread + depth.before,
                        q1 = j * column.spread + column.before;
          if (q0 < 0 || q1 < 0 || q0 >= depth.images * depth.length ||
              q1 >= column.images * column.length)
            continue;
          const auto [w0, p0] = depth.image_and_place(q0);
          const auto [w1, p1] = column.image_and_place(q1);
          const int64_t line = (w0 * column.images + w1) * row.images * size +
                               (p0 * column.length + p1) * row.length;
          f(from, count, row.images, line + at, row.spread);
        }
    }
  }
  // f(element of a channel, where its copy lies) for all of them.
  template <class F>
  void each_element(const F& f) const {
    each_line([&](int64_t from, int64_t count, int64_t step, int64_t to, int64_t apart) {
      for (int64_t i = 0; i < count; ++i) f(from + i * step, to + i * apart);
    });
  }

  // Copies `channels` channels. REQUIRES: zeros at `to`, or what an earlier copy left there.
  template <class T>
  void copy(const T* x, int64_t channels, T* copied) const {
    if (is_plain()) return copy_plain(x, channels, copied);
    for (int64_t c = 0; c < channels; ++c, copied += channel(), x += elements())
      each_line([&](int64_t from, int64_t count, int64_t step, int64_t to, int64_t apart) {
        copy_line(x + from, count, step, copied + to, apart);
      });
  }

 private:
  // Neither a stride nor a spread.
  bool is_plain() const {
    return std::all_of(dim, dim + kSpatial,
                       [](const ImageDim& d) { return d.images == 1 && d.spread == 1; });
  }
  template <class T>
  void copy_plain(const T* x, int64_t channels, T* copied) const {
    // Locals, since the compiler takes a vector that is written for a part of the image.
    int64_t first[kSpatial], count[kSpatial];
    for (int d = 0; d < kSpatial; ++d) {
      first[d] = std::max<int64_t>(-dim[d].before, 0);
      count[d] = std::min(dim[d].size, dim[d].length - dim[d].before) - first[d];
    }
    const int64_t row = dim[2].size, plane = dim[1].size * row, depths = count[0], rows = count[1],
                  some = count[2];
    const int64_t length = dim[2].length, layer = dim[1].length * length, size = elements(),
                  next = channel();
    x += first[0] * plane + first[1] * row + first[2];
    copied += (first[0] + dim[0].before) * layer + (first[1] + dim[1].before) * length + first[2] +
              dim[2].before;
    for (int64_t c = 0; c < channels; ++c, x += size, copied += next)
      for (int64_t i = 0; i < depths; ++i)
        for (int64_t j = 0; j < rows; ++j)
          copy_along(x + i * plane + j * row, some, copied + i * layer + j * length);
  }
};

// The copy of the input, as all windows see it.
inline PaddedImage image_of_input(const Convolution& shape) {
  PaddedImage out;
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = shape.dim[d];
    out.dim[d] = {w.in, 1, w.padding, w.stride, w.out + (w.kernel - 1) * w.dilation / w.stride};
  }
  return out;
}

// The image of the output, as its gradient comes to the input. The windows have the same shape,
// turned round, and move by 1 over elements that are `stride` apart.
inline PaddedImage image_of_output(const Convolution& shape) {
  PaddedImage out;
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = shape.dim[d];
    const int64_t reach = (w.kernel - 1) * w.dilation;
    out.dim[d] = {w.out, w.stride, reach - w.padding, 1, w.in + reach};
  }
  return out;
}

}  // namespace gradus::cpu
