// fft: lines of a tensor are gathered into lanes, transformed together and stored. A long line is a
// matrix, whose columns and rows are such lanes (Bailey 1990).
#include <algorithm>
#include <cmath>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/fft/plan.h"
#include "gradus/cpu/parallel.h"
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
  int64_t stride;
  FftForm form;
  Dims sizes, strides;  // of the other dimensions

  FftLines(const Tensor& x, int64_t dim, FftForm f) : data(static_cast<T*>(x.data_ptr())), form(f) {
    const int64_t width = f == FftForm::real ? 1 : 2;
    stride = x.stride(dim) * width;
    for (int64_t d = 0; d < x.dim(); ++d)
      if (d != dim) sizes.push_back(x.size(d)), strides.push_back(x.stride(d) * width);
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

template <class T>
void load_lanes(const FftLines<T>& from, const FftLanes<T>& lanes, int64_t n, int64_t count,
                std::array<T*, 2> z) {
  const int64_t width = static_cast<int64_t>(lanes.lines.size());
  for (int64_t j = 0; j < count; ++j) {
    T *const re = z[0] + j * width, *const im = z[1] + j * width;
    for (int64_t q = 0; q < width; ++q) {
      const int64_t i = lanes.first[q] + j * lanes.step;
      const bool second = from.form == FftForm::half && 2 * i > n;
      const T* const at = lanes.lines[q] + (second ? n - i : i) * from.stride;
      re[q] = at[0];
      if (from.form == FftForm::real || (from.form == FftForm::half && (i == 0 || 2 * i == n)))
        im[q] = 0;
      else
        im[q] = second ? -at[1] : at[1];
    }
  }
}
template <class T>
void store_lanes(const FftLines<T>& to, const FftLanes<T>& lanes, int64_t n, int64_t count, T scale,
                 std::array<T*, 2> z) {
  const int64_t width = static_cast<int64_t>(lanes.lines.size());
  for (int64_t j = 0; j < count; ++j)
    for (int64_t q = 0; q < width; ++q) {
      const int64_t i = lanes.first[q] + j * lanes.step;
      if (to.form == FftForm::half && 2 * i > n) continue;
      T* const at = lanes.lines[q] + i * to.stride;
      at[0] = z[0][j * width + q] * scale;
      if (to.form != FftForm::real) at[1] = z[1][j * width + q] * scale;
    }
}

// Two pairs of arrays for the lanes of a thread.
template <class T>
struct FftRoom {
  FftRoom(const FftPlan<T>& plan, int64_t lanes)
      : memory(new T[static_cast<size_t>(4 * plan.room() * lanes)]) {
    T* const at = memory.get();
    const int64_t size = plan.room() * lanes;
    z = {at, at + size}, other = {at + 2 * size, at + 3 * size};
  }
  std::unique_ptr<T[]> memory;
  std::array<T*, 2> z, other;
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

// The transform of all lines along one dimension.
template <class T>
class FftPass {
 public:
  FftPass(int64_t n, bool inverse, double scale, const FftLines<T>& from, const FftLines<T>& to)
      : n_(n), inverse_(inverse), scale_(static_cast<T>(scale)), from_(from), to_(to) {}

  void run(int64_t lines) const {
    const auto [rows, columns] = n_ > kLongLine ? fft_split(n_) : std::array<int64_t, 2>{0, 0};
    if (rows > 0) return long_lines(lines, rows, columns);
    const auto plan = fft_plan<T>(n_);
    const int64_t width = lanes_for(*plan, lines);
    parallel_for(0, divide_up(lines, width), grain(width * plan->room()),
                 [&](int64_t first, int64_t last) {
                   FftRoom<T> room(*plan, width);
                   FftLanes<T> in, out;
                   for (int64_t block = first; block < last; ++block) {
                     const int64_t begin = block * width, end = std::min(lines, begin + width);
                     in.lines.clear(), out.lines.clear();
                     for (int64_t i = begin; i < end; ++i)
                       in.lines.push_back(from_.line(i)), out.lines.push_back(to_.line(i));
                     in.first.assign(in.lines.size(), 0), out.first = in.first;
                     load_lanes(from_, in, n_, n_, turned(room.z));
                     plan->run(end - begin, room.z, room.other);
                     store_lanes(to_, out, n_, n_, scale_, turned(room.z));
                   }
                 });
  }

 private:
  static int64_t grain(int64_t elements) {
    constexpr int64_t kFewElements = 4096;
    return std::max<int64_t>(1, kFewElements / elements);
  }
  // A transform whose parts are exchanged is the inverse one.
  std::array<T*, 2> turned(const std::array<T*, 2>& z) const {
    return inverse_ ? std::array<T*, 2>{z[1], z[0]} : z;
  }

  void long_lines(int64_t lines, int64_t rows, int64_t columns) const {
    const RootTable roots(n_);
    const auto by_rows = fft_plan<T>(rows), by_columns = fft_plan<T>(columns);
    const auto each = [&](int64_t first, int64_t last) {
      const Tensor matrix = raw::empty({2, n_}, sizeof(T) == 4 ? kFloat : kDouble, kCPU, "fft");
      T* const re = static_cast<T*>(matrix.data_ptr());
      for (int64_t i = first; i < last; ++i) {
        transform_columns(from_.line(i), *by_rows, columns, roots, {re, re + n_});
        transform_rows(to_.line(i), *by_columns, rows, {re, re + n_});
      }
    };
    if (lines < thread_count())
      each(0, lines);  // whose loops are parallel
    else
      parallel_for(0, lines, divide_up(lines, thread_count()), each);
  }

  // Element j of the line is (j / columns, j % columns) of a matrix.
  void transform_columns(T* line, const FftPlan<T>& plan, int64_t columns, const RootTable& roots,
                         std::array<T*, 2> matrix) const {
    const int64_t rows = plan.length(), width = lanes_for(plan, columns);
    parallel_for(0, divide_up(columns, width), grain(width * rows),
                 [&](int64_t first, int64_t last) {
                   FftRoom<T> room(plan, width);
                   FftLanes<T> lanes;
                   lanes.step = columns;
                   for (int64_t block = first; block < last; ++block) {
                     const int64_t begin = block * width, count = std::min(width, columns - begin);
                     lanes.lines.assign(static_cast<size_t>(count), line);
                     lanes.first.clear();
                     for (int64_t i = begin; i < begin + count; ++i) lanes.first.push_back(i);
                     load_lanes(from_, lanes, n_, rows, turned(room.z));
                     plan.run(count, room.z, room.other);
                     for (int64_t k = 0; k < rows; ++k)
                       for (int64_t q = 0; q < count; ++q) {
                         const auto [c, s] = roots.at(k * (begin + q));
                         const T x = room.z[0][k * count + q], y = room.z[1][k * count + q];
                         const T re = static_cast<T>(c), im = static_cast<T>(s);
                         matrix[0][k * columns + begin + q] = x * re - y * im;
                         matrix[1][k * columns + begin + q] = x * im + y * re;
                       }
                   }
                 });
  }

  // Element k of row r becomes element r + rows k of the line.
  void transform_rows(T* line, const FftPlan<T>& plan, int64_t rows,
                      std::array<T*, 2> matrix) const {
    const int64_t columns = plan.length(), width = lanes_for(plan, rows);
    parallel_for(0, divide_up(rows, width), grain(width * columns),
                 [&](int64_t first, int64_t last) {
                   FftRoom<T> room(plan, width);
                   FftLanes<T> lanes;
                   lanes.step = rows;
                   for (int64_t block = first; block < last; ++block) {
                     const int64_t begin = block * width, count = std::min(width, rows - begin);
                     lanes.lines.assign(static_cast<size_t>(count), line);
                     lanes.first.clear();
                     for (int64_t i = begin; i < begin + count; ++i) lanes.first.push_back(i);
                     for (size_t part = 0; part < 2; ++part)
                       for (int64_t q = 0; q < count; ++q)
                         for (int64_t j = 0; j < columns; ++j)
                           room.z[part][j * count + q] = matrix[part][(begin + q) * columns + j];
                     plan.run(count, room.z, room.other);
                     store_lanes(to_, lanes, n_, columns, scale_, turned(room.z));
                   }
                 });
  }

  const int64_t n_;
  const bool inverse_;
  const T scale_;
  const FftLines<T>&from_, &to_;
};

template <class T>
void transform_dim(const Tensor& x, const Tensor& out, int64_t dim, bool inverse, double scale) {
  const bool real_in = !x.is_complex(), real_out = !out.is_complex();
  const int64_t n = real_out ? out.size(dim) : x.size(dim);
  const FftLines<T> from(x, dim,
                         real_in    ? FftForm::real
                         : real_out ? FftForm::half
                                    : FftForm::complex);
  const FftLines<T> to(out, dim,
                       real_out  ? FftForm::real
                       : real_in ? FftForm::half
                                 : FftForm::complex);
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
