#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/walk.h"
#include "gradus/tensor/dispatch.h"

namespace gradus::cpu {

namespace {

// Outputs that are searched side by side, so that a search along columns reads whole cache lines.
constexpr int64_t kPanel = 64;

template <bool largest, class T>
bool more_extreme(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return b == b;
  return largest ? a > b : a < b;
}

// Searches n elements, `step` apart, behind each of `count` <= kPanel outputs, `apart` apart.
template <bool largest, class T>
void search(const T* x, int64_t apart, int64_t count, int64_t n, int64_t step, T* best,
            int64_t* index) {
  const auto look = [&](int64_t o, int64_t i, T& extreme, int64_t& where) {
    const T value = x[i * step + o * apart];
    const bool wins = more_extreme<largest>(value, extreme);
    extreme = wins ? value : extreme;
    where = wins ? i : where;
  };
  if (apart == 1) {
    for (int64_t o = 0; o < count; ++o) best[o] = x[o], index[o] = 0;
    for (int64_t i = 1; i < n; ++i)
      for (int64_t o = 0; o < count; ++o) look(o, i, best[o], index[o]);
    return;
  }
  for (int64_t o = 0; o < count; ++o) {
    T extreme = x[o * apart];
    int64_t where = 0;
    for (int64_t i = 1; i < n; ++i) look(o, i, extreme, where);
    best[o] = extreme, index[o] = where;
  }
}

template <bool largest, class T>
void arg_reduce_tensor(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices) {
  const int64_t n = x.dim() ? x.sizes()[dim] : 1, step = x.dim() ? x.strides()[dim] : 0;
  // x is walked over the outputs: with size 1 in dim, its stride there does not matter.
  const Strided<3> view =
      collapse<3>(values.sizes(), {values.strides(), indices.strides(), x.strides()});
  const auto apart = inner_strides(view);
  const T* const from = static_cast<const T*>(x.data_ptr());
  T* const value = static_cast<T*>(values.data_ptr());
  int64_t* const index = static_cast<int64_t*>(indices.data_ptr());
  parallel_for(0, view.numel, std::max(kGrain / n, kPanel), [&](int64_t begin, int64_t end) {
    walk(view, begin, end, [&](const auto& at, int64_t count) {
      T best[kPanel];
      int64_t where[kPanel];
      for (int64_t first = 0; first < count; first += kPanel) {
        const int64_t some = std::min(kPanel, count - first);
        search<largest>(from + at[2] + first * apart[2], apart[2], some, n, step, best, where);
        for (int64_t o = 0; o < some; ++o) {
          value[at[0] + (first + o) * apart[0]] = best[o];
          index[at[1] + (first + o) * apart[1]] = where[o];
        }
      }
    });
  });
}

}  // namespace

void CpuBackend::arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                            const Tensor& indices) {
  visit_numbers(largest ? "max" : "min", x.dtype(), [&]<class T>(TypeTag<T>) {
    largest ? arg_reduce_tensor<true, T>(x, dim, values, indices)
            : arg_reduce_tensor<false, T>(x, dim, values, indices);
  });
}

}  // namespace gradus::cpu
