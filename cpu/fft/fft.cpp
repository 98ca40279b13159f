// fft: lines of a tensor are gathered into lanes, transformed together and stored. A long line is a
// matrix, whose columns and rows are such lanes (Bailey 1990). An even count of real numbers is
// transformed as half as many complex ones, whose two ends give the spectrum.
#include <algorithm>
#include <cmath>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/fft/lanes.h"
#include "gradus/cpu/fft/plan.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/fft_loops.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cpu {

namespace {

// Lines longer than this are matrices where their length has factors for it.
constexpr int64_t kLongLine = 2048;

// Numbers of T, of any content.
template <class T>
Tensor fft_room(int64_t rows, int64_t columns) {
  return raw::empty({rows, columns}, sizeof(T) == 4 ? kFloat : kDouble, kCPU, "fft");
}

// A block of lines and two pairs of arrays for its lanes, one element longer than the plan asks.
// `in` and `out`: where the plan reads and writes the lanes themselves.
template <class T>
struct FftBlock {
  FftBlock(const FftPlan<T>& plan, int64_t lanes)
      : memory(fft_room<T>(4, (plan.room() + 1) * lanes)) {
    T* const at = static_cast<T*>(memory.data_ptr());
    const int64_t size = memory.size(1);
    z = {at, at + size}, other = {at + 2 * size, at + 3 * size};
  }
  Tensor memory;
  std::array<T*, 2> z, other;
  int64_t first = 0, count = 0;
  FftLanes<T> from, to;
  FftRows<T> in, out;
};

// Lanes of a block: whole vectors that stay in the cache.
template <class T>
int64_t lanes_for(const FftPlan<T>& plan, int64_t lines) {
  constexpr int64_t kVector = 64 / sizeof(T), kElements = 1024;
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
    if (short_lines(lines)) return;
    const auto [rows, columns] =
        length_ > kLongLine ? fft_split(length_) : std::array<int64_t, 2>{0, 0};
    if (rows > 0) return long_lines(lines, rows, columns);
    const auto plan = fft_plan<T>(length_);
    const int64_t half = n_ / 2 + 1;
    each_block(
        *plan, lines,
        [&](FftBlock<T>& block) {
          find_lanes(from_, block, block.from), find_lanes(to_, block, block.to);
          if (plan->has_stages() && !joins_) block.in = rows_of(block.from, from_.form, inverse_);
          if (plan->has_stages() && !splits_) block.out = rows_of(block.to, to_.form, inverse_);
          if (block.in.re) return;
          const auto z = turned(block.z);
          const int64_t wanted = length_ + (joins_ ? 1 : 0);
          load_lanes(block.from, from_.form, from_.form == FftForm::half ? half : wanted, z);
          if (from_.form == FftForm::half) mirror_lanes(block.count, n_, wanted, z);
          if (joins_) ends(*plan, block);
        },
        [&](FftBlock<T>& block) {
          if (block.out.re) return;
          if (splits_) {
            for (T* part : block.z)
              std::copy(part, part + block.count, part + length_ * block.count);
            ends(*plan, block);
          }
          store(block.to, block, to_.form == FftForm::half ? half : length_);
        });
  }

 private:
  // Loads lines block by block, transforms them and stores them.
  template <class Load, class Store>
  void each_block(const FftPlan<T>& plan, int64_t lines, Load load, Store store) const {
    constexpr int64_t kFewElements = 4096, kChunks = 8;
    const int64_t width = lanes_for(plan, lines), blocks = divide_up(lines, width);
    parallel_for(
        0, blocks,
        std::max(divide_up(kFewElements, width * plan.room()), blocks / (kChunks * thread_count())),
        [&](int64_t first, int64_t last) {
          FftBlock<T> block(plan, width);
          for (int64_t i = first; i < last; ++i) {
            block.first = i * width, block.count = std::min(width, lines - block.first);
            load(block);
            plan.run(block.count, block.z, block.other, block.in, block.out, scale_);
            store(block);
          }
        });
  }
  // The lanes of a block of lines, or of elements first + j step of one line.
  static void find_lanes(const FftLines<T>& lines, const FftBlock<T>& block, FftLanes<T>& out) {
    lines.lines(block.first, block.count, out.first);
    out.step = lines.stride, out.imaginary = lines.imaginary;
  }
  static FftLanes<T> lanes_of(const FftLines<T>& lines, T* line, int64_t step,
                              const FftBlock<T>& block) {
    FftLanes<T> out{{}, step * lines.stride, lines.imaginary};
    for (int64_t i = block.first; i < block.first + block.count; ++i)
      out.first.push_back(line + i * lines.stride);
    return out;
  }
  // Elements of the block from element `first` on.
  void store(const FftLanes<T>& lanes, const FftBlock<T>& block, int64_t count,
             int64_t first = 0) const {
    const auto [re, im] = turned(block.z);
    const int64_t at = first * block.count;
    store_lanes(lanes, to_.form, block.count, count, scale_, {re + at, im + at});
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

  // Transforms lines of 16 elements that follow each other. Returns whether it did.
  bool short_lines(int64_t lines) const {
    constexpr int64_t kLines = 64;
    const auto sixteen = table_of<FftLoops<T>>().sixteen;
    const FftLines<T> from = splits_ ? from_.reals() : from_;
    if (n_ != 16 || !sixteen || from.form == FftForm::half || to_.form == FftForm::real ||
        from.stride != (splits_ ? 1 : 2) || to_.stride != 2)
      return false;
    const auto plan = fft_plan<T>(n_);
    parallel_for(0, divide_up(lines, kLines), 8, [&](int64_t first, int64_t last) {
      std::vector<T*> in, out;
      for (int64_t line = first * kLines; line < std::min(last * kLines, lines); line += kLines) {
        const int64_t count = std::min(kLines, lines - line);
        from.lines(line, count, in), to_.lines(line, count, out);
        sixteen(count, splits_, in.data(), out.data(), plan->roots(), inverse_, scale_);
      }
    });
    return true;
  }

  void long_lines(int64_t lines, int64_t rows, int64_t columns) const {
    const RootTable roots(length_), of_ends(splits_ || joins_ ? n_ : 1);
    const auto by_rows = fft_plan<T>(rows), by_columns = fft_plan<T>(columns);
    const bool half = from_.form == FftForm::half;
    std::vector<T*> inputs, outputs;
    from_.lines(0, lines, inputs), to_.lines(0, lines, outputs);
    const auto each = [&](int64_t first, int64_t last) {
      const Tensor matrix = fft_room<T>(2, length_),
                   spectrum = half ? fft_room<T>(2, n_ - (joins_ ? length_ - 1 : 0)) : Tensor();
      T* const re = static_cast<T*>(matrix.data_ptr());
      for (int64_t i = first; i < last; ++i) {
        const FftLines<T> line = half ? whole(inputs[i], spectrum, of_ends) : from_;
        transform_columns(line, half ? line.data : inputs[i], *by_rows, columns, roots,
                          {re, re + length_});
        T* const to = outputs[i];
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

  // All elements of a half, or the numbers whose transform has pairs of real numbers.
  FftLines<T> whole(const T* line, const Tensor& room, const RootTable& roots) const {
    constexpr int64_t kFewElements = 4096;
    const int64_t count = room.size(1);
    T *const re = static_cast<T*>(room.data_ptr()), *const im = re + count;
    parallel_for(0, count, kFewElements, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const bool second = 2 * i > n_, is_real = i == 0 || 2 * i == n_;
        const T* const at = line + (second ? n_ - i : i) * from_.stride;
        re[i] = at[0], im[i] = is_real ? T(0) : second ? -at[1] : at[1];
      }
    });
    if (joins_) ends(re, im, 1, roots);
    return {re, 1, count, FftForm::complex};
  }

  // Element j of the line is (j / columns, j % columns) of a matrix.
  void transform_columns(const FftLines<T>& from, T* line, const FftPlan<T>& plan, int64_t columns,
                         const RootTable& roots, std::array<T*, 2> matrix) const {
    each_block(
        plan, columns,
        [&](FftBlock<T>& block) {
          const FftLanes<T> lanes = lanes_of(from, line, columns, block);
          block.in = rows_of(lanes, from.form, inverse_);
          if (!block.in.re) load_lanes(lanes, from.form, plan.length(), turned(block.z));
        },
        [&](FftBlock<T>& block) {
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
        [&](FftBlock<T>& block) {
          const FftLines<T> from{matrix[0],        1,      matrix[1] - matrix[0],
                                 FftForm::complex, {rows}, {columns}};
          find_lanes(from, block, block.from);
          load_lanes(block.from, from.form, columns, block.z);
        },
        [&](FftBlock<T>& block) {
          FftLanes<T> lanes = lanes_of(to_, line, rows, block);
          if (to_.form != FftForm::half || splits_) return store(lanes, block, columns);
          // All lanes have `common` elements up to n / 2. Some have one more.
          const int64_t left = n_ / 2 + rows - block.first,
                        common = std::max<int64_t>(0, (left - block.count + 1) / rows);
          store(lanes, block, common);
          lanes.first.resize(static_cast<size_t>(
              std::clamp<int64_t>(left - rows * (common + 1) + 1, 0, block.count)));
          for (T*& first : lanes.first) first += common * lanes.step;
          store(lanes, block, 1, common);
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
