// Copies between layouts and dtypes, fill and arange.
#include <algorithm>
#include <cstring>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/find_loop.h"
#include "gradus/cpu/walk/transpose.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/math/convert.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Runs from this length on are converted by a loop of the instruction set.
constexpr int64_t kLongRun = 16;
// Wide vectors are worth a call from this length on.
constexpr int64_t kWideRun = 64;
// So many of shorter ones stay in the cache.
constexpr int64_t kBlock = 256;

// to[i] = from[-i]
template <class T>
[[gnu::always_inline]] inline void reverse(int64_t n, T* to, const T* from) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
}
#ifdef __x86_64__
template <class T>
[[gnu::target("avx2")]] void reverse_avx2(int64_t n, T* to, const T* from) {
  reverse(n, to, from);
}
#endif
template <class T>
inline void copy_reversed(int64_t n, T* to, const T* from) {
#ifdef __x86_64__
  if (n >= kWideRun && instruction_set() != InstructionSet::baseline)
    return reverse_avx2(n, to, from);
#endif
  reverse(n, to, from);
}

template <class T>
void copy_run_or_reversed(int64_t n, void* out, int64_t to_step, const void* in,
                          int64_t from_step) {
  T* const to = static_cast<T*>(out);
  const T* const from = static_cast<const T*>(in);
  if (to_step == 1 && from_step == -1) return copy_reversed(n, to, from);
  copy_run(n, to, to_step, from, from_step);
}

using Run = void (*)(int64_t n, void* out, int64_t to_step, const void* in, int64_t from_step);
template <class S, class D>
void convert_run(int64_t n, void* out, int64_t to_step, const void* in, int64_t from_step) {
  if (n >= kLongRun && to_step == 1 && from_step == 1)
    return convert_loop(dtype_of<S>, dtype_of<D>)(n, out, &in);
  D* const to = static_cast<D*>(out);
  const S* const from = static_cast<const S*>(in);
  for (int64_t i = 0; i < n; ++i) to[i * to_step] = convert<D>(from[i * from_step]);
}
// Errors: TypeError where there is no conversion at once.
Run convert_run(ScalarType from, ScalarType to) {
  Run run = nullptr;
  visit(from, [&]<class S>(TypeTag<S>) {
    visit(to, [&]<class D>(TypeTag<D>) {
      if constexpr (converts_at_once(dtype_of<S>, dtype_of<D>) && !std::is_same_v<S, D>)
        run = convert_run<S, D>;
    });
  });
  check<TypeError>(run, "copy: no conversion at once from ", from, " to ", to);
  return run;
}

// Whether the last two dimensions are the rows of a matrix in dst, and the columns of one in src,
// and there are enough of these for a tile.
bool is_transposed(const Strided<2>& view) {
  const int last = view.dims - 1;
  return last > 0 && view.size[last] >= kTile && view.stride[0][last] == 1 &&
         view.stride[1][last] != 1 && view.stride[1][last - 1] == 1;
}

template <class T>
void copy_transposed(Strided<2> view, T* to, const T* from) {
  view.dims -= 2;  // what is left is walked
  const int row = view.dims, column = row + 1;
  const int64_t rows = view.size[row], columns = view.size[column];
  const int64_t to_row = view.stride[0][row], from_column = view.stride[1][column];
  const int64_t bands = divide_up(rows, kBand<T>), band_numel = kBand<T> * columns;
  const int64_t grain = divide_up(share_of(view.numel, kGrain), band_numel);
  parallel_for(0, view.numel / (rows * columns) * bands, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % bands * kBand<T>;
      walk(view, i / bands, i / bands + 1, [&](const auto& at, int64_t) {
        transpose_band(std::min(kBand<T>, rows - first), columns, to + at[0] + first * to_row,
                       to_row, from + at[1] + first, from_column);
      });
    }
  });
}

// `run` copies a run.
template <class R>
void copy_runs(Strided<2> view, const Tensor& src, const Tensor& dst, R run) {
  const char* const from = static_cast<const char*>(src.data_ptr());
  char* const to = static_cast<char*>(dst.data_ptr());
  const int64_t from_size = src.element_size(), to_size = dst.element_size();
  // The dimension before that of short runs is walked inside of theirs, since long runs are
  // quicker.
  const int last = view.dims - 1;
  const bool swaps =
      last > 0 && view.size[last] < kLongRun && view.size[last - 1] > view.size[last];
  const int64_t times = swaps ? view.size[last] : 1;
  const auto outer = inner_strides(view);
  int64_t grain = share_of(view.numel, kGrain);
  if (swaps) --view.dims, view.numel /= times, grain = divide_up(grain, times);
  const auto inner = inner_strides(view);
  const auto copy = [&](int64_t n, int64_t to_at, int64_t from_at) {
    run(n, to + to_at * to_size, inner[0], from + from_at * from_size, inner[1]);
  };
  parallel_for(0, view.numel, grain, [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t n) {
      if (!swaps) return copy(n, at[0], at[1]);
      for (int64_t first = 0; first < n; first += kBlock)
        for (int64_t i = 0; i < times; ++i)
          copy(std::min(kBlock, n - first), at[0] + first * inner[0] + i * outer[0],
               at[1] + first * inner[1] + i * outer[1]);
    });
  });
}

// Zeros the C library writes past the caches where there are many.
template <class T>
void fill_run(Loop repeat, int64_t n, T* to, T number) {
  constexpr std::byte kZero[sizeof(T)] = {};
  const void* const in[] = {&number};
  if (std::memcmp(&number, kZero, sizeof(T)) == 0)
    std::memset(static_cast<void*>(to), 0, static_cast<size_t>(n) * sizeof(T));
  else
    repeat(n, to, in);
}

}  // namespace

void CpuBackend::copy(const Tensor& src, const Tensor& dst) {
  const Strided<2> view = collapse<2>(dst.sizes(), {dst.strides(), src.strides()});
  if (view.numel == 0) return;
  if (src.dtype() != dst.dtype())
    return copy_runs(view, src, dst, convert_run(src.dtype(), dst.dtype()));
  visit_bits(src.element_size(), [&]<class T>(TypeTag<T>) {
    if (is_transposed(view))
      copy_transposed(view, static_cast<T*>(dst.data_ptr()), static_cast<const T*>(src.data_ptr()));
    else
      copy_runs(view, src, dst, [](auto... run) { copy_run_or_reversed<T>(run...); });
  });
}

void CpuBackend::fill(const Tensor& out, const Scalar& value) {
  visit(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T number = value.cast<T>();
    T* const to = static_cast<T*>(out.data_ptr());
    constexpr int64_t kFew = 16;  // which take less time than the choice of a loop
    if (out.numel() <= kFew && out.is_contiguous()) return void(std::fill_n(to, out.numel(), number));
    const Strided<1> view = collapse<1>(out.sizes(), {out.strides()});
    const int64_t step = inner_strides(view)[0];
    const Loop repeat = repeat_loop(sizeof(T));
    parallel_for(0, view.numel, share_of(view.numel, kGrain), [&](int64_t begin, int64_t end) {
      walk(view, begin, end, [&](const auto& at, int64_t n) {
        if (step == 1)
          fill_run(repeat, n, to + at[0], number);
        else
          for (int64_t i = 0; i < n; ++i) to[at[0] + i * step] = number;
      });
    });
  });
}

void CpuBackend::arange(const Tensor& out, const Scalar& start, const Scalar& step) {
  visit_numbers("arange", out.dtype(), [&]<class T>(TypeTag<T>) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    const Wide first = start.cast<Wide>(), by = step.cast<Wide>();
    T* const to = static_cast<T*>(out.data_ptr());
    const Loop loop = arange_loop(dtype_of<T>);
    parallel_for(0, out.numel(), share_of(out.numel(), kGrain), [&](int64_t begin, int64_t end) {
      const void* const in[] = {&begin, &first, &by};
      loop(end - begin, to + begin, in);
    });
  });
}

}  // namespace gradus::cpu
