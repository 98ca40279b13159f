// Cumulative sums, products and extremes along one dimension.
#include "gradus/tensor/math/scan.h"

#include <limits>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/order_loops.h"
#include "gradus/cpu/walk/find_loop.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Lines that are scanned side by side, where that reads memory in order.
constexpr int64_t kPanel = 256;
// A sum along a line is split into chunks of so many elements, to each of which the total of those
// before is added. The totals come first where lines are few; then chunks are summed in parallel.
constexpr int64_t kChunk = 32768;
constexpr int64_t kFewLines = 64;

// Tensors are numbered as they are walked over.
enum : int { kValues, kX, kIndices };

// Lines of n elements: where they are in each tensor.
template <class T>
struct Problem {
  Strided<3> lines;
  std::array<int64_t, 3> apart;  // neighbouring lines
  int64_t step[3];               // neighbouring elements
  int64_t n;
  const T* x;
  T* values;
  int64_t* indices;  // null where there are none

  Problem(const Tensor& x_tensor, int64_t dim, const Tensor& values_tensor,
          const Tensor& indices_tensor)
      : n(x_tensor.sizes()[dim]),
        x(static_cast<const T*>(x_tensor.data_ptr())),
        values(static_cast<T*>(values_tensor.data_ptr())),
        indices(indices_tensor.defined() ? indices_tensor.data_ptr<int64_t>() : nullptr) {
    const Tensor& third = indices ? indices_tensor : values_tensor;
    Dims sizes = values_tensor.impl().sizes;
    sizes[dim] = 1;
    lines = collapse<3>(sizes, {values_tensor.strides(), x_tensor.strides(), third.strides()});
    apart = inner_strides(lines);
    step[kValues] = values_tensor.strides()[dim];
    step[kX] = x_tensor.strides()[dim];
    step[kIndices] = third.strides()[dim];
  }

  bool side_by_side() const {
    return lines.numel > 1 && std::abs(apart[kValues]) < std::abs(step[kValues]);
  }
};

// f(where a line starts in each tensor) for all lines, on several threads.
template <class T, class F>
void for_lines(const Problem<T>& p, int64_t grain, const F& f) {
  parallel_for(0, p.lines.numel, std::max<int64_t>(grain / p.n, 1),
               [&](int64_t first, int64_t last) {
                 walk(p.lines, first, last, [&](std::array<int64_t, 3> at, int64_t count) {
                   for (; count > 0; --count) {
                     f(at);
                     for (int t = 0; t < 3; ++t) at[t] += p.apart[t];
                   }
                 });
               });
}

// One line. Steps are known to the compiler where elements lie one after the other.
template <bool kDense, class S, class T>
void scan_line(const S& scan, const Problem<T>& p, const std::array<int64_t, 3>& at) {
  const int64_t n = p.n, step = kDense ? 1 : p.step[kValues], x_step = kDense ? 1 : p.step[kX];
  const T* const x = p.x + at[kX];
  T* const values = p.values + at[kValues];
  typename S::State so_far = scan.start();
  for (int64_t i = 0; i < n; ++i) {
    so_far = scan.combine(so_far, scan.enter(x[i * x_step], i));
    values[i * step] = scan.value(so_far);
    if constexpr (S::indexed) p.indices[at[kIndices] + i * p.step[kIndices]] = so_far.index;
  }
}

// `count` lines side by side. kPacked: they are neighbours in memory.
template <bool kPacked, class S, class T>
void scan_panel(const S& scan, const Problem<T>& p, const std::array<int64_t, 3>& at,
                int64_t count) {
  typename S::State state[kPanel];
  std::fill_n(state, count, scan.start());
  for (int64_t i = 0; i < p.n; ++i) {
    const auto place = [&](int tensor, int64_t line) {
      return at[tensor] + i * p.step[tensor] + (kPacked ? line : line * p.apart[tensor]);
    };
    for (int64_t line = 0; line < count; ++line) {
      state[line] = scan.combine(state[line], scan.enter(p.x[place(kX, line)], i));
      p.values[place(kValues, line)] = scan.value(state[line]);
      if constexpr (S::indexed) p.indices[place(kIndices, line)] = state[line].index;
    }
  }
}

// f(whether lines are neighbours in memory, where they start, how many) for panels of lines.
template <class T, class F>
void for_panels(const Problem<T>& p, const F& f) {
  const bool packed = p.apart == std::array<int64_t, 3>{1, 1, 1};
  parallel_for(0, p.lines.numel, std::max(kGrain / p.n, kPanel), [&](int64_t first, int64_t last) {
    walk(p.lines, first, last, [&](std::array<int64_t, 3> at, int64_t count) {
      for (; count > 0; count -= kPanel) {
        const int64_t some = std::min(count, kPanel);
        f(packed, at, some);
        for (int t = 0; t < 3; ++t) at[t] += some * p.apart[t];
      }
    });
  });
}

template <class S, class T>
void scan_all(const S& scan, const Problem<T>& p) {
  if (p.side_by_side())
    return for_panels(p, [&](bool packed, const auto& at, int64_t count) {
      packed ? scan_panel<true>(scan, p, at, count) : scan_panel<false>(scan, p, at, count);
    });
  const bool dense = p.step[kX] == 1 && p.step[kValues] == 1;
  for_lines(p, kGrain, [&](const auto& at) {
    dense ? scan_line<true>(scan, p, at) : scan_line<false>(scan, p, at);
  });
}

// put(k, sum so far) of the elements at(k) behind `sum`, of which there are `count`. The elements
// are added up by themselves, so that only one of four additions waits for those before.
template <int count, class State, class At, class Put>
State sum_some(State sum, const At& at, const Put& put) {
  const State x0 = at(0), x1 = count > 1 ? at(1) : 0, x2 = count > 2 ? at(2) : 0;
  const State x3 = count > 3 ? at(3) : 0, two = x0 + x1, total = sum + (two + (x2 + x3));
  put(0, sum + x0);
  if constexpr (count > 1) put(1, sum + two);
  if constexpr (count > 2) put(2, sum + (two + x2));
  if constexpr (count > 3) put(3, total);
  return total;
}
// add(i, Constant<how many>) for [0, n) in fours, and the rest.
template <class Add>
void in_fours(int64_t n, const Add& add) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) add(i, Constant<4>());
  if (n - i == 3) add(i, Constant<3>());
  if (n - i == 2) add(i, Constant<2>());
  if (n - i == 1) add(i, Constant<1>());
}

// The sum of a chunk of n elements; stored where kStores, with the sums so far on top of `before`.
template <bool kStores, bool kDense, class T, class State>
State sum_chunk(const Problem<T>& p, int64_t n, const T* x, T* values, State before) {
  using S = Fold<ScanOp::cumsum, T>;
  const int64_t step = kDense ? 1 : p.step[kValues], x_step = kDense ? 1 : p.step[kX];
  State sum = 0;
  in_fours(n, [&](int64_t i, auto count) {
    sum = sum_some<count>(
        sum, [&](int64_t k) { return S::enter(x[(i + k) * x_step], 0); },
        [&](int64_t k, State so_far) {
          if constexpr (kStores) values[(i + k) * step] = S::value(before + so_far);
        });
  });
  return sum;
}
template <bool kStores, class T, class State>
State sum_chunk(const Problem<T>& p, const std::array<int64_t, 3>& at, int64_t chunk,
                State before) {
  const int64_t begin = chunk * kChunk, n = std::min(kChunk, p.n - begin);
  const T* const x = p.x + at[kX] + begin * p.step[kX];
  T* const values = p.values + at[kValues] + begin * p.step[kValues];
  return p.step[kX] == 1 && p.step[kValues] == 1
             ? sum_chunk<kStores, true>(p, n, x, values, before)
             : sum_chunk<kStores, false>(p, n, x, values, before);
}

// The same sums of `count` lines side by side.
template <bool kPacked, class T>
class Panel {
 public:
  Panel(const Problem<T>& p, const std::array<int64_t, 3>& at, int64_t count)
      : p_(p), x_(p.x + at[kX]), values_(p.values + at[kValues]), count_(count) {}

  void run() {
    add_chunk<true>(0);
    for (int64_t begin = kChunk; begin < p_.n; begin += kChunk) add_chunk<false>(begin);
  }

 private:
  using S = Fold<ScanOp::cumsum, T>;
  using State = typename S::State;

  template <bool kFirst>
  void add_chunk(int64_t begin) {
    in_fours(std::min(kChunk, p_.n - begin),
             [&](int64_t i, auto rows) { add_rows<kFirst, rows>(begin + i); });
    for (int64_t line = 0; line < count_; ++line) before_[line] += std::exchange(sum_[line], 0);
  }

  template <bool kFirst, int kRows>
  void add_rows(int64_t i) {
    const int64_t step = p_.step[kValues], x_step = p_.step[kX];
    const int64_t apart = kPacked ? 1 : p_.apart[kValues], x_apart = kPacked ? 1 : p_.apart[kX];
    const T* const x = x_ + i * x_step;
    T* const values = values_ + i * step;
#pragma omp simd
    for (int64_t line = 0; line < count_; ++line)
      sum_[line] = sum_some<kRows>(
          sum_[line], [&](int64_t k) { return S::enter(x[k * x_step + line * x_apart], 0); },
          [&](int64_t k, State so_far) {
            values[k * step + line * apart] =
                S::value(kFirst ? so_far : before_[line] + so_far);  // which is not -0.0
          });
  }

  const Problem<T>& p_;
  const T* x_;
  T* values_;
  int64_t count_;
  State before_[kPanel] = {}, sum_[kPanel] = {};
};

// Sums side by side, or line by line. Where lines are few, it sums chunk by chunk: first the
// totals, then the sums. All of these give the same bits.
template <class T>
void sum_lines(const Problem<T>& p) {
  using State = typename Fold<ScanOp::cumsum, T>::State;
  const bool few_and_long = p.n > kChunk && p.lines.numel < kFewLines;
  // Integers give the same sums one after the other, which is less work for one thread.
  if (std::is_integral_v<T> && (!few_and_long || thread_count() == 1))
    return scan_all(Fold<ScanOp::cumsum, T>(), p);
  if (p.side_by_side() && !few_and_long)
    return for_panels(p, [&](bool packed, const auto& at, int64_t count) {
      packed ? Panel<true, T>(p, at, count).run() : Panel<false, T>(p, at, count).run();
    });
  const int64_t chunks = (p.n - 1) / kChunk + 1;
  if (!few_and_long || thread_count() == 1)
    return for_lines(p, kGrain, [&](const auto& at) {
      State sum = 0;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += sum_chunk<true>(p, at, chunk, sum);
    });
  std::vector<State> sums(static_cast<size_t>(p.lines.numel * chunks));
  // f(offsets of the line, chunk, its sum), in parallel.
  const auto for_chunks = [&](const auto& f) {
    parallel_for(0, p.lines.numel * chunks, 1, [&](int64_t i, int64_t) {
      const int64_t line = i / chunks;
      walk(p.lines, line, line + 1,
           [&](const auto& at, int64_t) { f(at, i % chunks, sums[static_cast<size_t>(i)]); });
    });
  };
  for_chunks([&](const auto& at, int64_t chunk, State& sum) {
    sum = sum_chunk<false>(p, at, chunk, State{0});
  });
  for (size_t i = 0; i < sums.size(); i += static_cast<size_t>(chunks)) {
    State before = 0;
    for (size_t c = i; c < i + static_cast<size_t>(chunks); ++c)
      before += std::exchange(sums[c], before);
  }
  for_chunks(
      [&](const auto& at, int64_t chunk, State& before) { sum_chunk<true>(p, at, chunk, before); });
}

// log(sum(e^x)) so far as m + log(sum(e^(x - m))), where m is the largest element so far: when it
// grows, the sum is multiplied by a power of e. So the powers and the logarithms of many elements
// are vector code, and none of them depends on elements to come.
template <class T>
void log_sums(const Problem<T>& p) {
  constexpr int64_t kBlock = 256;
  constexpr double kMost = std::numeric_limits<double>::max();
  const Loop exp = map_loop(UnaryOp::exp, kDouble).loop;
  const Loop log = map_loop(UnaryOp::log, kDouble).loop;
  for_lines(p, kGrain / 32, [&](const auto& at) {
    double most = -kMost, sum = 0;
    double mosts[kBlock], shrink[kBlock], sums[kBlock];
    const void* const in_shrink[] = {shrink};
    const void* const in_sums[] = {sums};
    for (int64_t begin = 0; begin < p.n; begin += kBlock) {
      const int64_t some = std::min(kBlock, p.n - begin);
      const T* const x = p.x + at[kX] + begin * p.step[kX];
      T* const out = p.values + at[kValues] + begin * p.step[kValues];
      const double most_before = most;
      for (int64_t i = 0; i < some; ++i) {
        const auto element = static_cast<double>(x[i * p.step[kX]]);
        // Not infinite, for infinity - infinity is no number.
        mosts[i] = element > most ? std::min(element, kMost) : most;
        shrink[i] = most - mosts[i];
        sums[i] = element - mosts[i];
        most = mosts[i];
      }
      exp(some, sums, in_sums);
      if (most > most_before) {
        exp(some, shrink, in_shrink);
        for (int64_t i = 0; i < some; ++i) sums[i] = sum = sum * shrink[i] + sums[i];
      } else {
        for (int64_t i = 0; i < some; ++i) sums[i] = sum += sums[i];
      }
      log(some, sums, in_sums);
      for (int64_t i = 0; i < some; ++i)
        out[i * p.step[kValues]] = static_cast<T>(mosts[i] + sums[i]);
    }
  });
}

}  // namespace

void CpuBackend::scan(ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) {
  visit_op(op, [&](auto row) {
    const auto run = [&]<class T>(TypeTag<T>) {
      const Problem<T> p(x, dim, out, {});
      if constexpr (row.value == ScanOp::logcumsumexp) return log_sums(p);
      // A product is not split, for that of a part may overflow where the product so far does not.
      if constexpr (row.value == ScanOp::cumsum) return sum_lines(p);
      scan_all(Fold<row.value, T>{}, p);
    };
    if constexpr (row.value == ScanOp::logcumsumexp)
      visit_floating(name_of(op), x.dtype(), run);
    else
      visit_numbers(name_of(op), x.dtype(), run);
  });
}

void CpuBackend::arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                          const Tensor& indices) {
  visit_numbers(largest ? "cummax" : "cummin", x.dtype(), [&]<class T>(TypeTag<T>) {
    const Problem<T> p(x, dim, values, indices);
    if (p.n > 1 && (p.step[kX] != 1 || p.step[kValues] != 1 || p.step[kIndices] != 1))
      return scan_all(Extreme<T>{largest}, p);
    const OrderLoops<T>& loops = table_of<OrderLoops<T>>();
    const auto run = largest ? loops.running_most : loops.running_least;
    for_lines(p, kGrain, [&](const auto& at) {
      run(p.n, p.x + at[kX], p.values + at[kValues], p.indices + at[kIndices]);
    });
  });
}

}  // namespace gradus::cpu
