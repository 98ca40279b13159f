// Lines of a tensor, and their elements as lanes side by side, which stages compute together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gradus/cpu/simd/fft_loops.h"
#include "gradus/cpu/simd/lane_loops.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cpu {

// A line is complex or real. A half is complex, and the other elements are its conjugates.
enum class FftForm : uint8_t { complex, real, half };

// The elements of lines in memory. Strides count numbers of T, two for a complex element.
template <class T>
struct FftLines {
  T* data;
  int64_t stride, imaginary;  // to the next element, and from a real part to its imaginary one
  FftForm form;
  Dims sizes = {}, strides = {};  // of the other dimensions

  static FftLines of(const Tensor& x, int64_t dim, FftForm form) {
    const int64_t width = form == FftForm::real ? 1 : 2;
    FftLines out{static_cast<T*>(x.data_ptr()), x.stride(dim) * width, 1, form};
    for (int64_t d = 0; d < x.dim(); ++d)
      if (d != dim) out.sizes.push_back(x.size(d)), out.strides.push_back(x.stride(d) * width);
    return out;
  }
  // Real numbers in turn the real and the imaginary part of an element.
  FftLines pairs() const {
    FftLines out = *this;
    out.form = FftForm::complex, out.stride = 2 * stride, out.imaginary = stride;
    return out;
  }
  // pairs() of what this was.
  FftLines reals() const {
    FftLines out = *this;
    out.form = FftForm::real, out.stride = stride / 2, out.imaginary = 1;
    return out;
  }
  // Puts where lines begin, `count` from the first one on, into `out`.
  void lines(int64_t first, int64_t count, std::vector<T*>& out) const {
    out.resize(static_cast<size_t>(count));
    std::array<int64_t, kMaxDims> index{};
    T* at = data;
    for (size_t d = sizes.size(); d-- > 0; first /= sizes[d])
      index[d] = first % sizes[d], at += index[d] * strides[d];
    for (T*& line : out) {
      line = at;
      for (size_t d = sizes.size(); d-- > 0;) {
        at += strides[d];
        if (++index[d] < sizes[d]) break;
        at -= sizes[d] * strides[d], index[d] = 0;
      }
    }
  }
};

// Where the first elements of lanes lie, and how far apart a lane's elements are.
template <class T>
struct FftLanes {
  std::vector<T*> first = {};
  int64_t step = 0, imaginary = 0;

  // Numbers side by side that are an element, or a part of one.
  int64_t width(FftForm form) const { return form != FftForm::real && imaginary == 1 ? 2 : 1; }
  // f(offset, first part) for what one loop moves: both parts of elements, or one.
  template <class F>
  void each_part(FftForm form, const F& f) const {
    f(int64_t{0}, size_t{0});
    if (form != FftForm::real && imaginary != 1) f(imaginary, size_t{1});
  }
  // f(first, count) for each run of lanes side by side.
  template <class F>
  void each_run(int64_t width, const F& f) const {
    for (size_t begin = 0, end = 0; begin < first.size(); begin = end) {
      while (++end < first.size() && first[end] - first[end - 1] == width) continue;
      f(begin, static_cast<int64_t>(end - begin));
    }
  }
};

// The lanes as rows of complex elements, with parts exchanged where `turned` says so: null unless
// lanes are side by side, or a single one's elements.
template <class T>
FftRows<T> rows_of(const FftLanes<T>& lanes, FftForm form, bool turned) {
  const size_t count = lanes.first.size();
  if (lanes.width(form) != 2 || form == FftForm::half) return {};
  bool side_by_side = (count == 1) == (lanes.step == 2);
  for (size_t q = 1; q < count && side_by_side; ++q)
    side_by_side = lanes.first[q] - lanes.first[q - 1] == 2;
  T* const at = lanes.first[0];
  return side_by_side ? FftRows<T>{at + turned, at + !turned, lanes.step, 2} : FftRows<T>{};
}

// Loads `count` elements of each lane, with no imaginary part where they are real.
template <class T>
void load_lanes(const FftLanes<T>& from, FftForm form, int64_t count, std::array<T*, 2> z) {
  const LaneLoops<T>& loops = table_of<LaneLoops<T>>();
  const int64_t width = from.width(form), lanes = static_cast<int64_t>(from.first.size());
  from.each_part(form, [&](int64_t offset, size_t part) {
    T* const parts[] = {z[part], z[1]};
    if (from.step == width)
      return loops.load_lines(static_cast<int>(width), from.first.data(), offset, lanes, count,
                              parts);
    from.each_run(width, [&](size_t q, int64_t neighbours) {
      T* const at[] = {parts[0] + q, parts[1] + q};
      loops.load_rows(static_cast<int>(width), from.first[q] + offset, from.step, neighbours, lanes,
                      count, at);
    });
  });
  if (form == FftForm::real) std::fill(z[1], z[1] + count * lanes, T(0));
}

// Stores `count` elements of each lane times `scale`. Elements of a lane in z are `lanes` apart.
template <class T>
void store_lanes(const FftLanes<T>& to, FftForm form, int64_t lanes, int64_t count, T scale,
                 std::array<const T*, 2> z) {
  const LaneLoops<T>& loops = table_of<LaneLoops<T>>();
  const int64_t width = to.width(form);
  to.each_part(form, [&](int64_t offset, size_t part) {
    const T* const parts[] = {z[part], z[1]};
    if (to.step == width && static_cast<int64_t>(to.first.size()) == lanes)
      return loops.store_lines(static_cast<int>(width), to.first.data(), offset, lanes, count,
                               scale, parts);
    to.each_run(width, [&](size_t q, int64_t neighbours) {
      const T* const at[] = {parts[0] + q, parts[1] + q};
      loops.store_rows(static_cast<int>(width), to.first[q] + offset, to.step, neighbours, lanes,
                       count, scale, at);
    });
  });
}

// Elements behind the middle of n from those before it, of which the first one and that in the
// middle are real. z holds elements up to n / 2, and gets those up to `count`.
template <class T>
void mirror_lanes(int64_t lanes, int64_t n, int64_t count, std::array<T*, 2> z) {
  std::fill(z[1], z[1] + lanes, T(0));
  if (n % 2 == 0) std::fill(z[1] + n / 2 * lanes, z[1] + (n / 2 + 1) * lanes, T(0));
  for (int64_t j = n / 2 + 1; j < count; ++j) {
    const int64_t from = (n - j) * lanes, to = j * lanes;
    for (int64_t q = 0; q < lanes; ++q)
      z[0][to + q] = z[0][from + q], z[1][to + q] = -z[1][from + q];
  }
}

}  // namespace gradus::cpu
