// Cumulative sums, products and extremes along one dimension.
#include "gradus/tensor/scan.h"

#include <limits>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/folds.h"
#include "gradus/cpu/loops.h"
#include "gradus/cpu/order_loops.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

namespace {

// Lines that are scanned side by side, where that reads memory in order.
constexpr int64_t kPanel = 256;
// A sum along few lines is split into chunks of so many elements: their totals come first, and each
// chunk starts with those before it. The borders do not depend on the number of threads.
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

// Scans elements [begin, end) of `count` lines from the one at `at` on. kPacked: neighbouring lines
// are neighbours in memory.
template <bool kPacked, class S, class T>
void scan_panel(const S& scan, const Problem<T>& p, const std::array<int64_t, 3>& at, int64_t count,
                int64_t begin, int64_t end, typename S::State* state) {
  const auto place = [&](int tensor, int64_t line, int64_t i) {
    return at[tensor] + i * p.step[tensor] + (kPacked ? line : line * p.apart[tensor]);
  };
  const auto element = [&](int64_t line, int64_t i, typename S::State& so_far) {
    so_far = scan.combine(so_far, scan.enter(p.x[place(kX, line, i)], i));
    p.values[place(kValues, line, i)] = scan.value(so_far);
    if constexpr (S::indexed) p.indices[place(kIndices, line, i)] = so_far.index;
  };
  if (p.side_by_side()) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t line = 0; line < count; ++line) element(line, i, state[line]);
  } else if (!S::indexed && p.step[kX] == 1 && p.step[kValues] == 1) {
    for (int64_t line = 0; line < count; ++line) {
      const T* const x = p.x + place(kX, line, 0);
      T* const values = p.values + place(kValues, line, 0);
      typename S::State so_far = state[line];
      for (int64_t i = begin; i < end; ++i)
        values[i] = scan.value(so_far = scan.combine(so_far, scan.enter(x[i], i)));
    }
  } else {
    for (int64_t line = 0; line < count; ++line) {
      typename S::State so_far = state[line];
      for (int64_t i = begin; i < end; ++i) element(line, i, so_far);
    }
  }
}

template <class S, class T>
void scan_whole_lines(const S& scan, const Problem<T>& p) {
  const bool packed = p.apart == std::array<int64_t, 3>{1, 1, 1};
  const int64_t grain = std::max(kGrain / p.n, p.side_by_side() ? kPanel : int64_t{1});
  parallel_for(0, p.lines.numel, grain, [&](int64_t first, int64_t last) {
    walk(p.lines, first, last, [&](std::array<int64_t, 3> at, int64_t count) {
      typename S::State state[kPanel];
      for (; count > 0; count -= kPanel) {
        const int64_t some = std::min(count, kPanel);
        std::fill_n(state, some, scan.start());
        packed ? scan_panel<true>(scan, p, at, some, 0, p.n, state)
               : scan_panel<false>(scan, p, at, some, 0, p.n, state);
        for (int t = 0; t < 3; ++t) at[t] += some * p.apart[t];
      }
    });
  });
}

// The sum of n elements, in lanes that are added at the end.
template <class T, class S = Fold<ScanOp::cumsum, T>>
typename S::State total(const T* x, int64_t n, int64_t step) {
  if constexpr (std::is_same_v<T, double>)
    if (step == 1) {
      double sum;
      fold_table<T>(instruction_set())
          .folds[static_cast<int>(ReduceOp::sum)]
          .runs(1, x, 0, n, &sum);
      return sum;
    }
  constexpr int64_t kLanes = 8;
  typename S::State lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lane[l] += S::enter(x[(i + l) * step], i);
  for (; i < n; ++i) lane[0] += S::enter(x[i * step], i);
  for (int64_t l = 1; l < kLanes; ++l) lane[0] += lane[l];
  return lane[0];
}

template <class T>
void sum_in_chunks(const Problem<T>& p) {
  using S = Fold<ScanOp::cumsum, T>;
  const int64_t chunks = (p.n - 1) / kChunk + 1;
  std::vector<typename S::State> start(static_cast<size_t>(p.lines.numel * chunks));
  // f(line, chunk, offsets of the line), in parallel.
  const auto for_chunks = [&](const auto& f) {
    parallel_for(0, p.lines.numel * chunks, 1, [&](int64_t i, int64_t) {
      const int64_t line = i / chunks;
      walk(p.lines, line, line + 1, [&](const auto& at, int64_t) {
        const int64_t begin = i % chunks * kChunk;
        f(at, begin, std::min(begin + kChunk, p.n), start[static_cast<size_t>(i)]);
      });
    });
  };
  for_chunks([&](const auto& at, int64_t begin, int64_t end, auto& sum) {
    sum = total(p.x + at[kX] + begin * p.step[kX], end - begin, p.step[kX]);
  });
  for (size_t i = 0; i < start.size(); i += static_cast<size_t>(chunks)) {
    typename S::State before = 0;
    for (size_t c = i; c < i + static_cast<size_t>(chunks); ++c)
      before += std::exchange(start[c], before);
  }
  for_chunks([&](const auto& at, int64_t begin, int64_t end, auto& before) {
    scan_panel<false>(S{}, p, at, 1, begin, end, &before);
  });
}

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
      // A product is not split, for that of a chunk may overflow where the product so far does
      // not. Sums of integers are the same in any order, and one thread has them in one pass.
      if constexpr (row.value == ScanOp::cumsum)
        if (p.n > kChunk && p.lines.numel < kFewLines &&
            !(std::is_integral_v<T> && thread_count() == 1))
          return sum_in_chunks(p);
      scan_whole_lines(Fold<row.value, T>{}, p);
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
      return scan_whole_lines(Extreme<T>{largest}, p);
    const OrderLoops<T>& loops = order_loops<T>(instruction_set());
    const auto run = largest ? loops.running_most : loops.running_least;
    for_lines(p, kGrain, [&](const auto& at) {
      run(p.n, p.x + at[kX], p.values + at[kValues], p.indices + at[kIndices]);
    });
  });
}

}  // namespace gradus::cpu
