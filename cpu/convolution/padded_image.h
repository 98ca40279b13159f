// The copy of some channels in which every window of a convolution lies alike. The tap t of the
// window at place p is element offset(t) + p, so kernels read neighbouring places side by side.
//
// Zeros stand where the padding is. A stride splits the copy into as many images. The elements that
// tap 0 of all windows sees lie in the first image one after the other, and so on.
#pragma once

#include <algorithm>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/tensor/base/windows.h"

namespace gradus::cpu {

// One dimension. Element i of `size` comes to place q = i * spread + before of the padded
// dimension, if that is not outside; place q is element q / images of image q % images.
struct ImageDim {
  int64_t size, spread, before, images, length;  // length: of an image
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
    const int64_t q[] = {q0, q1, q2};
    int64_t which = 0, where = 0;
    for (int d = 0; d < kSpatial; ++d) {
      const int64_t images = dim[d].images;
      if (images == 1) {  // without the divisions, which a short line would wait for
        where = where * dim[d].length + q[d];
      } else {
        which = which * images + q[d] % images;
        where = where * dim[d].length + q[d] / images;
      }
    }
    return which * image() + where;
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

  // f(element of a channel, where its copy lies) for those that are not cut off.
  template <class F>
  void each_element(const F& f) const {
    const ImageDim& row = dim[2];
    const int64_t padded = row.images * row.length;
    const int64_t first = row.before >= 0 ? 0 : (-row.before + row.spread - 1) / row.spread;
    const int64_t last =
        padded <= row.before ? 0 : std::min(row.size, (padded - row.before - 1) / row.spread + 1);
    int64_t from = 0;
    for (int64_t i = 0; i < dim[0].size; ++i)
      for (int64_t j = 0; j < dim[1].size; ++j, from += row.size) {
        const int64_t q0 = i * dim[0].spread + dim[0].before;
        const int64_t q1 = j * dim[1].spread + dim[1].before;
        if (q0 < 0 || q1 < 0 || q0 >= dim[0].images * dim[0].length ||
            q1 >= dim[1].images * dim[1].length)
          continue;
        const int64_t line = offset(q0, q1, 0);
        if (row.images == 1) {
          for (int64_t k = first; k < last; ++k) f(from + k, line + row.before + k * row.spread);
        } else {
          for (int64_t which = 0; which < row.images; ++which) {
            // The first element of this image, and where it comes to.
            const int64_t k =
                first + (which + row.images - (first + row.before) % row.images) % row.images;
            int64_t to = line + which * image() + (k + row.before) / row.images;
            for (int64_t e = k; e < last; e += row.images) f(from + e, to++);
          }
        }
      }
  }

  // Copies `channels` channels. REQUIRES: zeros at `to`, or what an earlier copy left there.
  template <class T>
  void copy(const T* from, int64_t channels, T* to) const {
    for (int64_t c = 0; c < channels; ++c, to += channel(), from += elements())
      each_element([from, to](int64_t e, int64_t at) { to[at] = from[e]; });
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
