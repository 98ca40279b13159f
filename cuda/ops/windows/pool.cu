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

// Calls f(pool, n), in numbers of 32 bits where they hold every place, product and divisor.
template <class F>
void with_index(const Pool& pool, int64_t n, const F& f) {
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
  if (most < std::numeric_limits<int32_t>::max() - kThreads)
    f(converted<int32_t>(pool), static_cast<int32_t>(n));
  else
    f(pool, n);
}

bool are_apart(const Pool& pool) {
  return std::all_of(std::begin(pool.dim), std::end(pool.dim), [](const WindowDim& w) {
    return !w.adaptive && w.padding == 0 && (w.kernel - 1) * w.dilation < w.stride;
  });
}

}  // namespace

void CudaBackend::max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                           const Tensor& indices) {
  const Context context(values);
  const int64_t n = values.numel();
  visit_numbers("max_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_index(pool, n, [&]<class Index>(const PoolOf<Index>& of, Index count) {
      launch_pdl(max_pool_kernel<T, Index>, linear_launch(context, n), of, count,
                 static_cast<const T*>(x.data_ptr()), values.data_ptr<T>(),
                 indices.data_ptr<int64_t>());
    });
  });
}

void CudaBackend::max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                                const Tensor& out) {
  const Context context(out);
  const bool apart = are_apart(pool);
  const int64_t n = apart ? grad.numel() : out.numel();
  visit_floating("max_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    with_index(pool, n, [&]<class Index>(const PoolOf<Index>& of, Index count) {
      launch_pdl(apart ? max_pool_grad_apart_kernel<T, Index> : max_pool_grad_kernel<T, Index>,
                 linear_launch(context, n), of, count, static_cast<const T*>(grad.data_ptr()),
                 static_cast<const int64_t*>(indices.data_ptr()), out.data_ptr<T>());
    });
  });
}

void CudaBackend::average_pool(const Pool& pool, const Tensor& x, const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  visit_floating("average_pool", x.dtype(), [&]<class T>(TypeTag<T>) {
    with_index(pool, n, [&]<class Index>(const PoolOf<Index>& of, Index count) {
      launch_pdl(average_pool_kernel<T, Index>, linear_launch(context, n), of, count,
                 static_cast<const T*>(x.data_ptr()), out.data_ptr<T>());
    });
  });
}

void CudaBackend::average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) {
  const Context context(out);
  const int64_t n = out.numel();
  visit_floating("average_pool", grad.dtype(), [&]<class T>(TypeTag<T>) {
    with_index(pool, n, [&]<class Index>(const PoolOf<Index>& of, Index count) {
      launch_pdl(average_pool_grad_kernel<T, Index>, linear_launch(context, n), of, count,
                 static_cast<const T*>(grad.data_ptr()), out.data_ptr<T>());
    });
  });
}

}  // namespace gradus::cuda
