// fft: lines of a tensor are gathered into lanes, transformed together and stored. A long line is a
// matrix, whose columns and rows are such lanes (Bailey 1990). An even count of real numbers is
// transformed as half as many complex ones, whose two ends give the spectrum.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/fft/plan.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/fft_loops.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cpu {

namespace {

// Lines longer than this are matrices where their length has factors for it.
constexpr int64_t kLongLine = 2048;

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
  T* line(int64_t i) const {
    int64_t at = 0;
    for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) at += i % sizes[d] * strides[d];
    return data + at;
  }
};

// The lanes of a block: where the line of each begins. The elements of a lane are first + j step.
template <class T>
struct FftLanes {
  std::vector<T*> lines;
  std::vector<int64_t> first;
  int64_t step = 1;
};

// f(a constant) for the form, so that loops over elements do not ask for it.
template <class F>
void with_form(FftForm form, const F& f) {
  if (form == FftForm::complex) return f(std::integral_constant<FftForm, FftForm::complex>());
  if (form == FftForm::real) return f(std::integral_constant<FftForm, FftForm::real>());
  f(std::integral_constant<FftForm, FftForm::half>());
}

// f(lane, first element, last element) for all of `count` elements. Some neighbours of a lane come
// at once, which share a line of the cache: lanes are often a power of two apart and fight for its
// places. Where lanes are neighbours themselves, an element of each comes after the other.
template <class T, class F>
void each_of_lanes(const FftLanes<T>& lanes, int64_t count, const F& f) {
  const int64_t neighbours = lanes.step == 1 ? 8 : 1,
                width = static_cast<int64_t>(lanes.lines.size());
  for (int64_t first = 0; first < count; first += neighbours)
    for (int64_t q = 0; q < width; ++q) f(q, first, std::min(first + neighbours, count));
}

template <class T>
void load_lanes(const FftLines<T>& from, const FftLanes<T>& lanes, int64_t n, int64_t count,
                std::array<T*, 2> z) {
  const int64_t width = static_cast<int64_t>(lanes.lines.size()), step = lanes.step,
                stride = from.stride, imaginary = from.imaginary;
  with_form(from.form, [&](auto form) {
    each_of_lanes(lanes, count, [&](int64_t q, int64_t j, int64_t last) {
      const T* const line = lanes.lines[q];
      T *re = z[0] + j * width + q, *im = z[1] + j * width + q;
      for (int64_t i = lanes.first[q] + j * step; j < last; ++j, i += step) {
        const bool second = form == FftForm::half && 2 * i > n;
        const T* const at = line + (second ? n - i : i) * stride;
        *re = at[0];
        if (form == FftForm::real || (form == FftForm::half && (i == 0 || 2 * i == n)))
          *im = 0;
        else
          *im = second ? -at[imaginary] : at[imaginary];
        re += width, im += width;
      }
    });
  });
}
template <class T>
void store_lanes(const FftLines<T>& to, const FftLanes<T>& lanes, int64_t n, int64_t count, T scale,
                 std::array<T*, 2> z) {
  const int64_t width = static_cast<int64_t>(lanes.lines.size()), step = lanes.step,
                stride = to.stride, imaginary = to.imaginary;
  with_form(to.form, [&](auto form) {
    each_of_lanes(lanes, count, [&](int64_t q, int64_t j, int64_t last) {
      T* const line = lanes.lines[q];
      const T *re = z[0] + j * width + q, *im = z[1] + j * width + q;
      for (int64_t i = lanes.first[q] + j * step; j < last; ++j, i += step) {
        if (form == FftForm::half && 2 * i > n) return;
        T* const at = line + i * stride;
        at[0] = *re * scale;
        if (form != FftForm::real) at[imaginary] = *im * scale;
        re += width, im += width;
      }
    });
  });
}

// A block of lines and two pairs of arrays for its lanes, one element longer than the plan asks.
template <class T>
struct FftBlock {
  FftBlock(const FftPlan<T>& plan, int64_t lanes)
      : memory(new T[static_cast<size_t>(4 * (plan.room() + 1) * lanes)]) {
    T* const at = memory.get();
    const int64_t size = (plan.room() + 1) * lanes;
    z = {at, at + size}, other = {at + 2 * size, at + 3 * size};
  }
  std::unique_ptr<T[]> memory;
  std::array<T*, 2> z, other;
  int64_t first = 0, count = 0;
};

// Lanes of a block: whole vectors that stay in the cache.
template <class T>
int64_t lanes_for(const FftPlan<T>& plan, int64_t lines) {
  constexpr int64_t kVector = 64 / sizeof(T), kElements = 4096;
  const int64_t most = std::clamp<int64_t>(kElements / plan.room(), 1, 256);
  return std::min(lines, most >= kVector                ? most / kVector * kVector
                         : plan.room() <= kLongLine * 4 ? kVector
                                                        : 1);
}

// e^(-2 pi i k / n) as the product of two numbers of tables.
class RootTable {
 public:
  explicit RootTable(int64_t n) {
    while (int64_t{1} << (2 * shift_) < n) ++shift_;
    for (int64_t i = 0; i < int64_t{1} << shift_; ++i) low_.push_back(fft_root(i, n));
    for (int64_t i = 0; i << shift_ < n; ++i) high_.push_back(fft_root(i << shift_, n));
  }
  std::array<double, 2> at(int64_t k) const {
    const auto& a = high_[static_cast<size_t>(k >> shift_)];
    const auto& b = low_[static_cast<size_t>(k & ((int64_t{1} << shift_) - 1))];
    return {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
  }

 private:
  int shift_ = 0;
  std::vector<std::array<double, 2>> low_, high_;
};

// The transform of all lines along one dimension. n: their length in real or complex numbers.
template <class T>
class FftPass {
 public:
  FftPass(int64_t n, bool inverse, double scale, const FftLines<T>& from, const FftLines<T>& to)
      : n_(n), inverse_(inverse), scale_(static_cast<T>(scale)), from_(from), to_(to) {
    if (n % 2 != 0) return;
    splits_ = from.form == FftForm::real, joins_ = to.form == FftForm::real;
    if (!splits_ && !joins_) return;
    length_ = n / 2;
    if (splits_) from_ = from.pairs();
    if (joins_) to_ = to.pairs();
  }

  void run(int64_t lines) const {
    const auto [rows, columns] =
        length_ > kLongLine ? fft_split(length_) : std::array<int64_t, 2>{0, 0};
    if (rows > 0) return long_lines(lines, rows, columns);
    const auto plan = fft_plan<T>(length_);
    each_block(
        *plan, lines,
        [&](FftBlock<T>& block, FftLanes<T>& lanes) {
          take(lanes, block, [&](int64_t i) { return from_.line(i); });
          load_lanes(from_, lanes, n_, length_ + (joins_ ? 1 : 0), turned(block.z));
          if (joins_) ends(*plan, block);
        },
        [&](FftBlock<T>& block, FftLanes<T>& lanes) {
          if (splits_) {
            for (T* part : block.z)
              std::copy(part, part + block.count, part + length_ * block.count);
            ends(*plan, block);
          }
          take(lanes, block, [&](int64_t i) { return to_.line(i); });
          store_lanes(to_, lanes, n_, length_ + (splits_ ? 1 : 0), scale_, turned(block.z));
        });
  }

 private:
  // Loads lines block by block, transforms them and stores them.
  template <class Load, class Store>
  static void each_block(const FftPlan<T>& plan, int64_t lines, Load load, Store store) {
    constexpr int64_t kFewElements = 4096;
    const int64_t width = lanes_for(plan, lines);
    parallel_for(0, divide_up(lines, width),
                 std::max<int64_t>(1, kFewElements / (width * plan.room())),
                 [&](int64_t first, int64_t last) {
                   FftBlock<T> block(plan, width);
                   FftLanes<T> lanes;
                   for (int64_t i = first; i < last; ++i) {
                     block.first = i * width, block.count = std::min(width, lines - block.first);
                     load(block, lanes);
                     plan.run(block.count, block.z, block.other);
                     store(block, lanes);
                   }
                 });
  }
  // The lanes of a block of lines, or of elements first + j step of one line.
  template <class Line>
  static void take(FftLanes<T>& lanes, const FftBlock<T>& block, Line line) {
    lanes.lines.clear();
    for (int64_t i = block.first; i < block.first + block.count; ++i)
      lanes.lines.push_back(line(i));
    lanes.first.assign(lanes.lines.size(), 0);
  }
  static void take(FftLanes<T>& lanes, const FftBlock<T>& block, T* line, int64_t step) {
    lanes.lines.assign(static_cast<size_t>(block.count), line);
    lanes.first.resize(static_cast<size_t>(block.count));
    std::iota(lanes.first.begin(), lanes.first.end(), block.first);
    lanes.step = step;
  }
  // A transform whose parts are exchanged is the inverse one.
  std::array<T*, 2> turned(const std::array<T*, 2>& z) const {
    return inverse_ ? std::array<T*, 2>{z[1], z[0]} : z;
  }

  // With w = e^(-2 pi i k / n), conjugate for the inverse, and the transform Z of pairs, element k
  // of the spectrum is ((Z_k + conj Z_h-k) - i w (Z_k - conj Z_h-k)) / 2, where h = n / 2. The same
  // with i w and no 2 leads back. The factors are -i w: (sin, -cos) of fft_root.
  void ends(const FftPlan<T>& plan, const FftBlock<T>& block) const {
    const int64_t last = length_ * block.count;
    const auto [re, im] = turned(block.z);
    ends(length_ / 2 + 1, block.count, block.count, plan.ends(), {re, im}, {re + last, im + last});
  }
  void ends(int64_t count, int64_t stride, int64_t lanes, const T* factors, std::array<T*, 2> low,
            std::array<T*, 2> high) const {
    const T way = splits_ ? T(1) : T(-1);
    const T turn[] = {inverse_ ? -way : way, way};
    table_of<FftLoops<T>>().ends(count, stride, lanes, factors, turn, splits_ ? T(0.5) : T(1),
                                 low.data(), high.data());
  }
  // The same for one line in memory.
  void ends(T* re, T* im, int64_t stride, const RootTable& roots) const {
    constexpr int64_t kPairs = 512;
    parallel_for(0, length_ / 2 + 1, 8 * kPairs, [&](int64_t first, int64_t last) {
      std::array<T, 2 * kPairs> factors;
      for (int64_t k = first; k < last; k += kPairs) {
        const int64_t count = std::min(kPairs, last - k), low = k * stride,
                      high = (length_ - k) * stride;
        for (int64_t i = 0; i < count; ++i) {
          const auto [c, s] = roots.at(k + i);
          factors[2 * i] = static_cast<T>(s), factors[2 * i + 1] = static_cast<T>(-c);
        }
        ends(count, stride, 1, factors.data(), {re + low, im + low}, {re + high, im + high});
      }
    });
  }

  void long_lines(int64_t lines, int64_t rows, int64_t columns) const {
    const RootTable roots(length_), of_ends(splits_ || joins_ ? n_ : 1);
    const auto by_rows = fft_plan<T>(rows), by_columns = fft_plan<T>(columns);
    const auto room = [&](int64_t count) {
      return raw::empty({2, count}, sizeof(T) == 4 ? kFloat : kDouble, kCPU, "fft");
    };
    const auto each = [&](int64_t first, int64_t last) {
      const Tensor matrix = room(length_), spectrum = joins_ ? room(length_ + 1) : Tensor();
      T* const re = static_cast<T*>(matrix.data_ptr());
      for (int64_t i = first; i < last; ++i) {
        if (joins_) {
          const FftLines<T> joined = join(from_.line(i), spectrum, of_ends);
          transform_columns(joined, joined.data, *by_rows, columns, roots, {re, re + length_});
        } else {
          transform_columns(from_, from_.line(i), *by_rows, columns, roots, {re, re + length_});
        }
        T* const to = to_.line(i);
        transform_rows(to, *by_columns, rows, {re, re + length_});
        if (!splits_) continue;
        T* const end = to + length_ * to_.stride;
        end[0] = to[0], end[to_.imaginary] = to[to_.imaginary];
        ends(to, to + to_.imaginary, to_.stride, of_ends);
      }
    };
    if (lines < thread_count())
      each(0, lines);  // whose loops are parallel
    else
      parallel_for(0, lines, divide_up(lines, thread_count()), each);
  }

  // The spectrum of a line as the numbers whose transform has pairs of real numbers.
  FftLines<T> join(T* line, const Tensor& spectrum, const RootTable& roots) const {
    constexpr int64_t kFewElements = 4096;
    T *const re = static_cast<T*>(spectrum.data_ptr()), *const im = re + length_ + 1;
    parallel_for(0, length_ + 1, kFewElements, [&](int64_t first, int64_t last) {
      load_lanes(from_, {{line}, {first}, 1}, n_, last - first, {re + first, im + first});
    });
    ends(re, im, 1, roots);
    return {re, 1, length_ + 1, FftForm::complex};
  }

  // Element j of the line is (j / columns, j % columns) of a matrix.
  void transform_columns(const FftLines<T>& from, T* line, const FftPlan<T>& plan, int64_t columns,
                         const RootTable& roots, std::array<T*, 2> matrix) const {
    each_block(
        plan, columns,
        [&](FftBlock<T>& block, FftLanes<T>& lanes) {
          take(lanes, block, line, columns);
          load_lanes(from, lanes, n_, plan.length(), turned(block.z));
        },
        [&](FftBlock<T>& block, FftLanes<T>&) {
          for (int64_t k = 0; k < plan.length(); ++k)
            for (int64_t q = 0; q < block.count; ++q) {
              const auto [c, s] = roots.at(k * (block.first + q));
              const T x = block.z[0][k * block.count + q], y = block.z[1][k * block.count + q];
              const T re = static_cast<T>(c), im = static_cast<T>(s);
              matrix[0][k * columns + block.first + q] = x * re - y * im;
              matrix[1][k * columns + block.first + q] = x * im + y * re;
            }
        });
  }

  // Element k of row r becomes element r + rows k of the line.
  void transform_rows(T* line, const FftPlan<T>& plan, int64_t rows,
                      std::array<T*, 2> matrix) const {
    const int64_t columns = plan.length();
    each_block(
        plan, rows,
        [&](FftBlock<T>& block, FftLanes<T>&) {
          for (size_t part = 0; part < 2; ++part)
            for (int64_t q = 0; q < block.count; ++q)
              for (int64_t j = 0; j < columns; ++j)
                block.z[part][j * block.count + q] = matrix[part][(block.first + q) * columns + j];
        },
        [&](FftBlock<T>& block, FftLanes<T>& lanes) {
          take(lanes, block, line, rows);
          store_lanes(to_, lanes, n_, columns, scale_, turned(block.z));
        });
  }

  const int64_t n_;
  const bool inverse_;
  const T scale_;
  FftLines<T> from_, to_;
  // Of what is transformed as complex numbers: n, or half as many pairs. Then the spectrum is split
  // off behind it, or joined before it.
  int64_t length_ = n_;
  bool splits_ = false, joins_ = false;
};

template <class T>
void transform_dim(const Tensor& x, const Tensor& out, int64_t dim, bool inverse, double scale) {
  const bool real_in = !x.is_complex(), real_out = !out.is_complex();
  const int64_t n = real_out ? out.size(dim) : x.size(dim);
  const auto form = [](bool is_real, bool other_is_real) {
    return is_real ? FftForm::real : other_is_real ? FftForm::half : FftForm::complex;
  };
  const auto from = FftLines<T>::of(x, dim, form(real_in, real_out)),
             to = FftLines<T>::of(out, dim, form(real_out, real_in));
  FftPass<T>(n, inverse, scale, from, to).run(x.numel() / x.size(dim));
}

// The first pass reads x, and each later one what the one before left in `out`. The real side is
// the first or the last one.
template <class T>
void transform_dims(const FourierTransform& how, const Tensor& x, const Tensor& out) {
  const bool real_out = !out.is_complex();
  const size_t count = how.dims.size();
  const Tensor between = real_out && count > 1 ? raw::empty_like(x) : out;
  for (size_t i = 0; i < count; ++i) {
    const int64_t dim = how.dims[real_out ? i : count - 1 - i];
    const bool last = i + 1 == count;
    transform_dim<T>(i == 0 ? x : between, last ? out : between, dim, how.inverse,
                     last ? how.scale : 1);
  }
}

}  // namespace

void CpuBackend::fft(const FourierTransform& how, const Tensor& x, const Tensor& out) {
  if (x.dtype() == kFloat || x.dtype() == kComplexFloat)
    transform_dims<float>(how, x, out);
  else
    transform_dims<double>(how, x, out);
}

}  // namespace gradus::cpu
