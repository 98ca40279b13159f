// softmax, log_softmax and their gradients along one dimension.
//
// Lines whose elements are neighbours in memory are computed in place, one after the other. Lines
// that are neighbours side by side are computed in panels. All others, and lines too short for a
// vector, pass through a buffer.
// Results do not depend on where panels end, and so not on the number of threads.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/softmax_loops.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/base/batch_invariant.h"

namespace gradus::cpu {

namespace {

// Elements that outweigh the waking of a thread.
constexpr int64_t kLeast = kGrain / 8;
// Fewer neighbouring lines than this do not fill a vector, and go through the buffer.
constexpr int64_t kNarrow = 8;
// Most lines that go through the buffer at a time: a cache line of each of their elements.
constexpr int64_t kBuffered = 16;
// The widths of panels: those whose elements stay in the second-level cache from pass to pass.
constexpr int64_t kPanelBytes = 262144;
constexpr int64_t kLeastWidth = 64;
// How many lines of n elements do so, in steps.
template <class T>
int64_t fitting(int64_t n, int64_t step, int64_t most) {
  return std::clamp(kPanelBytes / (int64_t{sizeof(T)} * n) / step * step, step, most);
}

// Tensors of one shape as lines; the first one is written to.
template <class T, int N>
class Runner {
 public:
  using Strides = std::array<int64_t, N>;

  Runner(const SoftmaxLoop<T>& loop, int64_t dim, const std::array<const Tensor*, N>& tensors)
      : loop_(loop) {
    Dims sizes = tensors[0]->impl().sizes;
    n_ = sizes[dim];
    sizes[dim] = 1;
    std::array<IntArrayRef, N> strides;
    for (int t = 0; t < N; ++t) {
      data_[t] = static_cast<T*>(tensors[t]->data_ptr());
      strides[t] = tensors[t]->strides();
      step_[t] = strides[t][dim];
    }
    lines_ = collapse<N>(sizes, strides);
    apart_ = inner_strides(lines_);
  }

  void run() const {
    const auto ones = [](const Strides& strides) {
      return std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 1; });
    };
    const int64_t count = lines_.numel;
    const int64_t parts = count * n_ / kLeast;
    const int64_t share =
        parts <= 1 ? count : divide_up(count, std::min<int64_t>(parts, thread_count()));
    const auto for_runs = [&](int64_t grain, const auto& f) {
      parallel_for(0, count, grain,
                   [&](int64_t begin, int64_t end) { walk(lines_, begin, end, f); });
    };
    if (ones(step_) && !(is_short() && count >= kBuffered))
      return for_runs(share, [&](const Strides& at, int64_t some) { run_lines(at, some); });
    const int64_t panels = divide_up(share, kLeastWidth) * kLeastWidth;
    if (ones(apart_) && !ones(step_) && lines_.size[lines_.dims - 1] >= kNarrow && !alike_)
      return for_runs(panels, [&](const Strides& at, int64_t some) { run_columns(at, some); });
    parallel_for(0, count, panels, [&](int64_t begin, int64_t end) { run_buffered(begin, end); });
  }

 private:
  // Than the widest vector; such lines are computed side by side, in an order of their own.
  bool is_short() const { return !alike_ && n_ * int64_t{sizeof(T)} < 64; }

  void run_lines(const Strides& at, int64_t count) const {
    const T* in[N - 1];
    for (int t = 1; t < N; ++t) in[t - 1] = data_[t] + at[t];
    loop_.lines(n_, count, apart_.data(), data_[0] + at[0], in);
  }

  void run_columns(const Strides& at, int64_t count) const {
    const int64_t width = count <= kLeastWidth ? count : fitting<T>(n_, kLeastWidth, kMaxWidth);
    for (int64_t first = 0; first < count; first += width) {
      const T* in[N - 1];
      for (int t = 1; t < N; ++t) in[t - 1] = data_[t] + at[t] + first;
      loop_.columns(n_, std::min(width, count - first), step_.data(), data_[0] + at[0] + first, in);
    }
  }

  void run_buffered(int64_t begin, int64_t end) const {
    const int64_t lines = std::min(fitting<T>(n_, 1, kBuffered), end - begin), size = n_ * lines;
    const StoragePtr memory =
        cpu_backend().allocate(static_cast<size_t>(N * size) * sizeof(T), Device(kCPU));
    T* const buffer = static_cast<T*>(memory->data());
    const T* in[N - 1];
    for (int t = 1; t < N; ++t) in[t - 1] = buffer + t * size;
    // Short lines lie side by side there.
    const int64_t step = is_short() ? lines : 1, apart = is_short() ? 1 : n_;
    Strides steps;
    steps.fill(is_short() ? step : apart);
    for (; begin < end; begin += lines) {
      T* place[N][kBuffered];  // where the lines begin
      const int64_t count = std::min(lines, end - begin);
      int64_t line = 0;
      walk(lines_, begin, begin + count, [&](Strides at, int64_t some) {
        for (; some > 0; --some, ++line)
          for (int t = 0; t < N; ++t) {
            place[t][line] = data_[t] + at[t];
            at[t] += apart_[t];
          }
      });
      for (int t = 1; t < N; ++t)
        for (int64_t i = 0; i < n_; ++i)
          for (int64_t l = 0; l < count; ++l)
            buffer[t * size + i * step + l * apart] = place[t][l][i * step_[t]];
      is_short() ? loop_.columns(n_, count, steps.data(), buffer, in)
                 : loop_.lines(n_, count, steps.data(), buffer, in);
      for (int64_t i = 0; i < n_; ++i)
        for (int64_t l = 0; l < count; ++l)
          place[0][l][i * step_[0]] = buffer[i * step + l * apart];
    }
  }

  const SoftmaxLoop<T>& loop_;
  const bool alike_ = detail::batch_invariant();  // one order, however many lines there are
  int64_t n_;
  std::array<T*, N> data_;
  Strides step_;   // from element to element of a line
  Strides apart_;  // from line to line
  Strided<N> lines_;
};

// f(the loops of a dtype).
template <class F>
void visit_loops(const char* op, ScalarType dtype, F f) {
  visit_floating(op, dtype, [&]<class T>(TypeTag<T>) { f(table_of<SoftmaxLoops<T>>()); });
}

}  // namespace

void CpuBackend::softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) {
  visit_loops("softmax", x.dtype(), [&]<class T>(const SoftmaxLoops<T>& loops) {
    Runner<T, 2>(log ? loops.log_softmax : loops.softmax, dim, {&out, &x}).run();
  });
}

void CpuBackend::softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                              const Tensor& out) {
  visit_loops("softmax", y.dtype(), [&]<class T>(const SoftmaxLoops<T>& loops) {
    Runner<T, 3>(log ? loops.log_softmax_grad : loops.softmax_grad, dim, {&out, &grad, &y}).run();
  });
}

}  // namespace gradus::cpu
