// where: elements of one tensor or the other, by a condition.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk/walk.h"
#include "gradus/tensor/raw/operand.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

using Steps = std::array<int64_t, 4>;  // of out, condition, x, y

// A mask of all bits chooses, so there is no branch, and the compiler makes vector instructions of
// it.
template <class T>
void choose(int64_t n, T* out, const bool* condition, const T* x, int64_t x_step, const T* y,
            int64_t y_step) {
  if constexpr (std::is_same_v<T, Bits128>) {
    for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? x[i * x_step] : y[i * y_step];
  } else {
    const auto* const chosen = reinterpret_cast<const uint8_t*>(condition);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const T a = x[i * x_step], b = y[i * y_step], mask = static_cast<T>(0 - T{chosen[i]});
      out[i] = static_cast<T>((a & mask) | (b & ~mask));
    }
  }
}

template <class T>
void where_run(int64_t n, const Steps& step, T* out, const bool* condition, const T* x,
               const T* y) {
  // The usual steps are constants.
  if (step == Steps{1, 1, 1, 1}) return choose(n, out, condition, x, 1, y, 1);
  if (step == Steps{1, 1, 0, 1}) return choose(n, out, condition, x, 0, y, 1);
  if (step == Steps{1, 1, 1, 0}) return choose(n, out, condition, x, 1, y, 0);
  for (int64_t i = 0; i < n; ++i)
    out[i * step[0]] = condition[i * step[1]] ? x[i * step[2]] : y[i * step[3]];
}

}  // namespace

void CpuBackend::where(const Tensor& condition, const Operand& first, const Operand& second,
                       const Tensor& out) {
  Tensor kept[2];
  const Tensor& x = raw::as_tensor(first, out.sizes(), out, kept[0]);
  const Tensor& y = raw::as_tensor(second, out.sizes(), out, kept[1]);
  const Strided<4> view =
      collapse<4>(out.sizes(), {out.strides(), condition.strides(), x.strides(), y.strides()});
  const Steps step = inner_strides(view);
  visit_bits(out.element_size(), [&]<class T>(TypeTag<T>) {
    T* const to = static_cast<T*>(out.data_ptr());
    const bool* const chosen = static_cast<const bool*>(condition.data_ptr());
    const T* const xs = static_cast<const T*>(x.data_ptr());
    const T* const ys = static_cast<const T*>(y.data_ptr());
    parallel_for(0, view.numel, share_of(view.numel, kGrain), [&](int64_t begin, int64_t end) {
      walk(view, begin, end, [&](const auto& at, int64_t n) {
        where_run(n, step, to + at[0], chosen + at[1], xs + at[2], ys + at[3]);
      });
    });
  });
}

}  // namespace gradus::cpu
