// Max and average pools.
#include "gradus/cuda/kernels/windows/pool.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cuda {

namespace {

template <class Index>
PoolOf<Index> converted(const Pool& pool) {
  const auto of = [](int64_t number) { return static_cast<Index>(number); };
  PoolOf<Index> out{of(pool.planes), {}, of(pool.divisor), pool.counts_padding, of(pool.channels)};
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = pool.dim[d];
    out.dim[d] = {of(w.in),      of(w.out),      of(w.kernel), of(w.stride),
                  of(w.padding), of(w.dilation), w.adaptive};
  }
  return out;
}

// Whether numbers of 32 bits hold every place, product and divisor.
bool counts_short(const Pool& pool) {
  double most = static_cast<double>(pool.planes * pool.channels *
                                    std::max(pool.inputs(), pool.outputs())),
         window = 1;
  for (const auto& [in, out, kernel, stride, padding, dilation, adaptive] : pool.dim) {
    const std::array<double, 6> each = {double(in),     double(out),     double(kernel),
                                        double(stride), double(padding), double(dilation)};
    most = std::max(most, (each[1] + 1) * (each[0] + each[3]) + 2 * each[4] + each[2] * each[5]);
    window *= each[2];
  }
  most = std::max({most, window, std::abs(static_cast<double>(pool.divisor))});
  return most < std::numeric_limits<int32_t>::max() - kThreads;
}

// f(pool, n, a constant): the kernel's numbers, and how many channels one of its elements has: V or
// 1. T: the type of the pool's elements.
template <class T, int V = 4, class F>
void with_elements(Pool pool, int64_t n, std::initializer_list<const Tensor*> tensors, const F& f) {
  const auto fits = [](const Tensor* x) {
    return reinterpret_cast<uintptr_t>(x->data_ptr()) % alignof(Vector<T, V>) == 0;
  };
  if (!counts_short(pool)) return f(pool, n, std::integral_constant<int, 1>());
  if (pool.channels % V != 0 || !std::all_of(tensors.begin(), tensors.end(), fits))
    return f(converted<int32_t>(pool), static_cast<int32_t>(n), std::integral_constant<int, 1>());
  pool.channels /= V;
  f(converted<int32_t>(pool), static_cast<int32_t>(n / V), std::integral_constant<int, V>());
}

template <int V, class T>
Vector<T, V>* elements(const Tensor& x) {
  return static_cast<Vector<T, V>*>(x.data_ptr());
}

// visit(op, dtype, f), or f(TypeTag<T>{}) for a half type.
template <class Visit, class F>
void with_halves(const Visit& visit, const char* op, ScalarType dtype, const F& f) {
  if (dtype == kHalf) return f(TypeTag<Half>{});
  if (dtype == kBFloat16) return f(TypeTag<BFloat16>{});
  visit(op, dtype, f);
}
constexpr auto kFloating = [](const char* op, ScalarType dtype, const auto& f) {
  visit_floating(op, dtype, f);
};
constexpr auto kNumbers = [](const char* op, ScalarType dtype, const auto& f) {
  visit_numbers(op, dtype, f);
};

// f(TypeTag<P>{}, a constant): the type of a max pool's indices, and how many channels an element
// may have: of half types 16 bytes where their places take 8.
template <class T, class F>
void with_places(const Tensor& indices, const F& f) {
  constexpr int kOfBytes = sizeof(T) == 2 ? 8 : 4;
  if (indices.dtype() == kByte)
    return f(TypeTag<uint8_t>{}, std::integral_constant<int, kOfBytes>());
  f(TypeTag<int64_t>{}, std::integral_constant<int, 4>());
}

// kWindows of max_pool_grad_cells_kernel; 0 where it does not take the pool.
int windows_of_cells(const Pool& pool) {
  int out = 1;
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = pool.dim[d];
    if (w.adaptive || (w.dilation != 1 && w.kernel > 1) || w.kernel > (d > 0 ? 2 : 1) * w.stride)
      return 0;
    if (w.kernel > w.stride) out = 2;
  }
  return out;
}
// The cells that have elements.
CellsOf<int64_t> cells_of(const Pool& pool) {
  CellsOf<int64_t> out;
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = pool.dim[d];
    out.at[d] = (w.in - 1 + w.padding) / w.stride - w.padding / w.stride + 1;
  }
  return out;
}

}  // namespace

void CudaBackend::max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                           const Tensor& indices) {
  const Context context(values);
  with_halves(kNumbers, "max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_places<T>(indices, [&]<class P, int most>(TypeTag<P>, std::integral_constant<int, most>) {
      with_elements<T, most>(pool, values.numel(), {&x, &values, &indices},
                             [&]<class Index, int V>(const PoolOf<Index>& of, Index n,
                                                     std::integral_constant<int, V>) {
                               launch_pdl(max_pool_kernel<T, P, V, Index>,
                                          linear_launch(context, n), of, n,
                                          static_cast<const Vector<T, V>*>(elements<V, T>(x)),
                                          elements<V, T>(values), elements<V, P>(indices));
                             });
    });
  });
}

void CudaBackend::max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                                const Tensor& out) {
  const Context context(out);
  const int windows = windows_of_cells(pool);
  const CellsOf<int64_t> cells = cells_of(pool);
  const int64_t all = windows == 0
                          ? out.numel()
                          : pool.planes * pool.channels * cells.at[0] * cells.at[1] * cells.at[2];
  with_halves(kFloating, "max_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    with_places<T>(indices, [&]<class P, int most>(TypeTag<P>, std::integral_constant<int, most>) {
      with_elements<T, most>(pool, all, {&grad, &indices, &out},
                             [&]<class Index, int V>(const PoolOf<Index>& of, Index n,
                                                     std::integral_constant<int, V>) {
                               const LaunchConfig config = linear_launch(context, n);
                               const auto* const grads = elements<V, T>(grad);
                               const auto* const places = elements<V, P>(indices);
                               const CellsOf<Index> in_cells = {{static_cast<Index>(cells.at[0]),
                                                                 static_cast<Index>(cells.at[1]),
                                                                 static_cast<Index>(cells.at[2])}};
                               if (windows == 0)
                                 launch_pdl(max_pool_grad_kernel<T, P, V, Index>, config, of, n,
                                            grads, places, elements<V, T>(out));
                               else
                                 launch_pdl(
                                     windows == 1 ? max_pool_grad_cells_kernel<T, P, V, 1, Index>
                                                  : max_pool_grad_cells_kernel<T, P, V, 2, Index>,
                                     config, of, in_cells, n, grads, places, elements<V, T>(out));
                             });
    });
  });
}

void CudaBackend::average_pool(const Pool& pool, const Tensor& x, const Tensor& out) {
  const Context context(out);
  with_halves(kFloating, "average_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_elements<T>(
        pool, out.numel(), {&x, &out},
        [&]<class Index, int V>(const PoolOf<Index>& of, Index n, std::integral_constant<int, V>) {
          launch_pdl(average_pool_kernel<T, V, Index>, linear_launch(context, n), of, n,
                     static_cast<const Vector<T, V>*>(elements<V, T>(x)), elements<V, T>(out));
        });
  });
}

void CudaBackend::average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) {
  const Context context(out);
  with_halves(kFloating, "average_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    with_elements<T>(
        pool, out.numel(), {&grad, &out},
        [&]<class Index, int V>(const PoolOf<Index>& of, Index n, std::integral_constant<int, V>) {
          launch_pdl(average_pool_grad_kernel<T, V, Index>, linear_launch(context, n), of, n,
                     static_cast<const Vector<T, V>*>(elements<V, T>(grad)), elements<V, T>(out));
        });
  });
}

}  // namespace gradus::cuda
