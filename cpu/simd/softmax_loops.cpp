// The loops of softmax, cross entropy and their gradients for one instruction set.
//
// Every pass goes over blocks of as many elements as 64 bytes hold, so that all sets add in one
// order. A sum is kept in lanes, one for each element of a block, and from piece to piece in
// double. The maximum beside a NaN is any element, since the sum is NaN.
#include "gradus/cpu/simd/softmax_loops.h"

#include <limits>
#include <type_traits>

#include "gradus/cpu/simd/set.h"
#include "gradus/tensor/math/log.h"

namespace gradus::cpu::GRADUS_SET {

namespace {

template <class T>
inline constexpr int kLanes = 64 / sizeof(T);
// How many elements are added in a lane before the sum goes on in double.
inline constexpr int64_t kPiece = 64;

// Calls body(i, count) for the block of `count` elements from i on, which is a constant but for the
// last block: that one's loop becomes one of masked vectors.
template <int kBlock, class F>
void for_blocks(int64_t n, F body) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) body(i, std::integral_constant<int, kBlock>{});
  if (i < n) body(i, static_cast<int>(n - i));
}
// Calls f(i) for all i < n.
template <class T, class F>
void for_each(int64_t n, F f) {
  for_blocks<kLanes<T>>(n, [&](int64_t i, auto count) {
#pragma omp simd
    for (int l = 0; l < kLanes<T>; ++l)
      if (l < count) f(i + l);
  });
}

template <class T>
T larger(T a, T b) {
  return a > b ? a : b;
}

template <class T>
T sum(T a, T b) {
  return a + b;
}

// Folds lanes onto each other, the upper half onto the lower, until kLeast are left.
template <int kLanes, int kLeast, class T, class F>
void fold(T* lane, F f) {
#pragma GCC unroll 8
  for (int reach = kLanes / 2; reach >= kLeast; reach /= 2)
    for (int l = 0; l < reach; ++l) lane[l] = f(lane[l + reach], lane[l]);
}
// The lanes of up to kBatch short lines, of which the last two folds go over all lines at once.
inline constexpr int kBatch = 16, kLast = 4;
template <class T>
struct Batch {
  T lane[kBatch * kLast] = {};

  template <class F>
  void add(int64_t line, T* full, F f) {
    fold<kLanes<T>, kLast>(full, f);
    for (int l = 0; l < kLast; ++l) lane[line * kLast + l] = full[l];
  }
  template <class F>
  void finish(T* out, F f) const {
#pragma omp simd
    for (int i = 0; i < kBatch; ++i)
      out[i] =
          f(f(lane[i * kLast + 3], lane[i * kLast + 1]), f(lane[i * kLast + 2], lane[i * kLast]));
  }
};

template <int kBlock, class T>
void largest_in_lanes(int64_t n, const T* x, T* lane) {
  for (int l = 0; l < kBlock; ++l) lane[l] = -std::numeric_limits<T>::infinity();
  for_blocks<kBlock>(n, [&](int64_t i, auto count) {
#pragma omp simd
    for (int l = 0; l < kBlock; ++l)
      if (l < count) lane[l] = larger(x[i + l], lane[l]);
  });
}
// Each maximum waits for the one before it, so that a long line has several at a time.
template <class T>
T largest(int64_t n, const T* x) {
  constexpr int kWide = 4 * kLanes<T>;
  T lane[kWide];
  largest_in_lanes<kWide>(n, x, lane);
  fold<kWide, 1>(lane, larger<T>);
  return lane[0];
}

// lane[l] becomes the sum of term(i) for the i < n of a lane.
template <class T, class F>
void sum_in_lanes(int64_t n, T* lane, F term) {
  for (int l = 0; l < kLanes<T>; ++l) lane[l] = 0;
  for_blocks<kLanes<T>>(n, [&](int64_t i, auto count) {
#pragma omp simd
    for (int l = 0; l < kLanes<T>; ++l)
      if (l < count) lane[l] += term(i + l);
  });
}
// The sum of term(i) for i < n.
template <class T, class F>
T sum_of(int64_t n, F term) {
  constexpr int64_t kLength = kPiece * kLanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kLength) {
    T lane[kLanes<T>];
    sum_in_lanes<T>(n - begin < kLength ? n - begin : kLength, lane,
                    [=](int64_t i) { return term(begin + i); });
    fold<kLanes<T>, 1>(lane, sum<T>);
    total += static_cast<double>(lane[0]);
  }
  return static_cast<T>(total);
}

// f(i, std::true_type) for four rows from i on, while there are, and f(i, std::false_type) for each
// of the rest: what f keeps of a column in memory waits for the rows before.
template <class F>
void for_rows(int64_t n, F f) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) f(i, std::true_type{});
  for (; i < n; ++i) f(i, std::false_type{});
}
// top[w] becomes the largest of x[i * step + w] for i < n.
template <class T>
void largest_of_columns(int64_t n, int64_t width, T* top, const T* x, int64_t step) {
  for_each<T>(width, [=](int64_t w) { top[w] = -std::numeric_limits<T>::infinity(); });
  for_rows(n, [=](int64_t i, auto four) {
    for_each<T>(width, [=](int64_t w) {
      const T* const y = x + i * step + w;
      const T some = four ? larger(larger(y[0], y[step]), larger(y[2 * step], y[3 * step])) : y[0];
      top[w] = larger(some, top[w]);
    });
  });
}
// sum[w] becomes the sum of term(i, w) for i < n.
template <class T, class F>
void sum_columns(int64_t n, int64_t width, T* sum, F term) {
  double total[kMaxWidth];
  double* const totals = total;
  for_each<T>(width, [=](int64_t w) { totals[w] = 0; });
  for_rows(n, [=](int64_t i, auto four) {
    for_each<T>(width, [=](int64_t w) {
      const T some =
          four ? (term(i, w) + term(i + 1, w)) + (term(i + 2, w) + term(i + 3, w)) : term(i, w);
      totals[w] += static_cast<double>(some);
    });
  });
  for_each<T>(width, [=](int64_t w) { sum[w] = static_cast<T>(totals[w]); });
}

// Lines go through each pass together, since a short one would wait for its own sum.
constexpr bool is_short(int64_t n) { return n < 64; }
template <class F>
void for_batches(int64_t n, int64_t count, F f) {
  const int64_t most = is_short(n) ? kBatch : n < 1024 ? kBatch / 4 : 1;
  for (int64_t first = 0; first < count; first += most)
    f(first, count - first < most ? count - first : most);
}

// result[line] becomes the largest element of each of `some` lines, or the sum of its terms.
template <class T, class Line>
void largest_of_lines(int64_t n, int64_t some, T* result, Line x) {
  if (!is_short(n)) {
    for (int64_t line = 0; line < some; ++line) result[line] = largest(n, x(line));
    return;
  }
  Batch<T> batch;
  for (int64_t line = 0; line < some; ++line) {
    T lane[kLanes<T>];
    largest_in_lanes<kLanes<T>>(n, x(line), lane);
    batch.add(line, lane, larger<T>);
  }
  batch.finish(result, larger<T>);
}
template <class T, class F>
void sums_of_lines(int64_t n, int64_t some, T* result, F term_of_line) {
  if (!is_short(n)) {
    for (int64_t line = 0; line < some; ++line) result[line] = sum_of<T>(n, term_of_line(line));
    return;
  }
  Batch<T> batch;
  for (int64_t line = 0; line < some; ++line) {
    T lane[kLanes<T>];
    sum_in_lanes(n, lane, term_of_line(line));
    batch.add(line, lane, sum<T>);
  }
  batch.finish(result, sum<T>);
}

template <bool kLog, class T>
GRADUS_TARGET void softmax_lines(int64_t n, int64_t count, const int64_t* apart, T* out,
                                 const T* const* in) {
  for_batches(n, count, [=](int64_t first, int64_t some) {
    const auto x = [&](int64_t line) { return in[0] + (first + line) * apart[1]; };
    const auto y = [&](int64_t line) { return out + (first + line) * apart[0]; };
    T top[kBatch], sum[kBatch], scale[kBatch];
    largest_of_lines(n, some, top, x);
    sums_of_lines(n, some, sum, [&](int64_t line) {
      return [from = x(line), to = y(line), about = top[line]](int64_t i) {
        const T e = math::exp_below_one(from[i] - about);
        if constexpr (!kLog) to[i] = e;
        return e;
      };
    });
    for_each<T>(some, [&](int64_t l) { scale[l] = kLog ? math::log(sum[l]) : 1 / sum[l]; });
    for (int64_t line = 0; line < some; ++line)
      for_each<T>(n, [from = x(line), to = y(line), about = top[line], by = scale[line]](
                         int64_t i) { to[i] = kLog ? (from[i] - about) - by : to[i] * by; });
  });
}

template <bool kLog, class T>
GRADUS_TARGET void softmax_columns(int64_t n, int64_t width, const int64_t* step, T* out,
                                   const T* const* in) {
  const T* const x = in[0];
  const int64_t to = step[0], from = step[1];
  T top[kMaxWidth], sum[kMaxWidth], scale[kMaxWidth];
  T *const tops = top, *const sums = sum, *const scales = scale;
  largest_of_columns(n, width, tops, x, from);
  sum_columns(n, width, sums, [=](int64_t i, int64_t w) {
    const T e = math::exp_below_one(x[i * from + w] - tops[w]);
    if constexpr (!kLog) out[i * to + w] = e;
    return e;
  });
  for_each<T>(width, [=](int64_t w) { scales[w] = kLog ? math::log(sums[w]) : 1 / sums[w]; });
  for (int64_t i = 0; i < n; ++i)
    for_each<T>(width, [=](int64_t w) {
      T& y = out[i * to + w];
      y = kLog ? (x[i * from + w] - tops[w]) - scales[w] : y * scales[w];
    });
}

// A term of the sum that a gradient needs of its line, and then the gradient.
template <bool kLog, class T>
T term_of(T grad, T y) {
  return kLog ? grad : grad * y;
}
template <bool kLog, class T>
T gradient(T grad, T y, T sum) {
  return kLog ? math::multiply_add(-math::exp(y), sum, grad) : (grad - sum) * y;
}

template <bool kLog, class T>
GRADUS_TARGET void grad_lines(int64_t n, int64_t count, const int64_t* apart, T* out,
                              const T* const* in) {
  for_batches(n, count, [=](int64_t first, int64_t some) {
    const auto grad = [&](int64_t line) { return in[0] + (first + line) * apart[1]; };
    const auto y = [&](int64_t line) { return in[1] + (first + line) * apart[2]; };
    T sum[kBatch];
    sums_of_lines(n, some, sum, [&](int64_t line) {
      return [g = grad(line), r = y(line)](int64_t i) { return term_of<kLog>(g[i], r[i]); };
    });
    for (int64_t line = 0; line < some; ++line)
      for_each<T>(
          n, [g = grad(line), r = y(line), of = sum[line], to = out + (first + line) * apart[0]](
                 int64_t i) { to[i] = gradient<kLog>(g[i], r[i], of); });
  });
}

template <bool kLog, class T>
GRADUS_TARGET void grad_columns(int64_t n, int64_t width, const int64_t* step, T* out,
                                const T* const* in) {
  const T *const grad = in[0], *const y = in[1];
  const int64_t to = step[0], of_grad = step[1], of_y = step[2];
  T sum[kMaxWidth];
  T* const sums = sum;
  sum_columns(n, width, sums, [=](int64_t i, int64_t w) {
    return term_of<kLog>(grad[i * of_grad + w], y[i * of_y + w]);
  });
  for (int64_t i = 0; i < n; ++i)
    for_each<T>(width, [=](int64_t w) {
      out[i * to + w] = gradient<kLog>(grad[i * of_grad + w], y[i * of_y + w], sums[w]);
    });
}

template <class T>
GRADUS_TARGET void log_sums(int64_t n, int64_t count, int64_t apart, const T* x, T* top, T* log_sum,
                            T* mean) {
  for_batches(n, count, [=](int64_t first, int64_t some) {
    const auto line_of = [&](int64_t line) { return x + (first + line) * apart; };
    T tops[kBatch], sums[kBatch];
    const auto sum_about_top = [&](T* to, auto term) {
      sums_of_lines(n, some, sums, [&](int64_t line) {
        return [from = line_of(line), about = tops[line], term](int64_t i) {
          return term(from[i] - about);
        };
      });
      for_each<T>(some, [=, from = sums](int64_t l) { to[first + l] = from[l]; });
    };
    largest_of_lines(n, some, tops, line_of);
    for_each<T>(some, [=, from = tops](int64_t l) { top[first + l] = from[l]; });
    sum_about_top(log_sum, [](T d) { return math::exp_below_one(d); });
    for_each<T>(some, [=](int64_t l) { log_sum[first + l] = math::log(log_sum[first + l]); });
    if (mean == nullptr) return;
    sum_about_top(mean, [](T d) { return d; });
    for_each<T>(some, [=](int64_t l) { mean[first + l] /= static_cast<T>(n); });
  });
}

template <class T>
GRADUS_TARGET void less_than_share(int64_t n, const T* x, T top, T log_sum, T less, T scale,
                                   T* out) {
  for_each<T>(
      n, [=](int64_t i) { out[i] = scale * (math::exp_below_one((x[i] - top) - log_sum) - less); });
}

template <class T>
constexpr SoftmaxLoops<T> softmax_loops() {
  return {{softmax_lines<false, T>, softmax_columns<false, T>},
          {softmax_lines<true, T>, softmax_columns<true, T>},
          {grad_lines<false, T>, grad_columns<false, T>},
          {grad_lines<true, T>, grad_columns<true, T>},
          log_sums<T>,
          less_than_share<T>};
}

}  // namespace

}  // namespace gradus::cpu::GRADUS_SET

#if GRADUS_VECTOR == 64
#include "gradus/cpu/simd/softmax_avx512.inc"
#endif

namespace gradus::cpu {

template <class T>
const SoftmaxLoops<T>& SoftmaxLoops<T>::GRADUS_SET() {
  static constexpr SoftmaxLoops loops = cpu::GRADUS_SET::softmax_loops<T>();
  return loops;
}
template const SoftmaxLoops<float>& SoftmaxLoops<float>::GRADUS_SET();
template const SoftmaxLoops<double>& SoftmaxLoops<double>::GRADUS_SET();

}  // namespace gradus::cpu
