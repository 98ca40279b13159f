// Pools: a thread for each window, and in the other direction one for each element of the input,
// which looks at the windows that reach over it in order, so that its sum is reproducible.
#pragma once

#include <limits>

#include "gradus/tensor/base/windows.h"

namespace gradus::cuda {

template <class T>
inline constexpr T kLeastNumber = std::numeric_limits<T>::has_infinity
                                      ? -std::numeric_limits<T>::infinity()
                                      : std::numeric_limits<T>::lowest();

// Places of an element of a plane of such sizes, or of a window.
struct PlanePlaces {
  int64_t plane, at[kSpatial];
};
__device__ inline PlanePlaces places_of(int64_t i, int64_t size1, int64_t size2, int64_t volume) {
  PlanePlaces out;
  out.plane = i / volume;
  int64_t rest = i - out.plane * volume;
  out.at[0] = rest / (size1 * size2);
  rest -= out.at[0] * size1 * size2;
  out.at[1] = rest / size2;
  out.at[2] = rest - out.at[1] * size2;
  return out;
}

// f(place in the plane) for each element of a window that lies within, in order.
template <class F>
__device__ void each_element(const Pool& pool, const int64_t (&o)[kSpatial], const F& f) {
  int64_t begin[kSpatial], end[kSpatial];
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDim& w = pool.dim[d];
    begin[d] = w.begin(o[d]);
    if (begin[d] < 0) begin[d] += (-begin[d] + w.dilation - 1) / w.dilation * w.dilation;
    end[d] = ::min(w.end(o[d]), w.in);
  }
  for (int64_t i = begin[0]; i < end[0]; i += pool.dim[0].dilation)
    for (int64_t j = begin[1]; j < end[1]; j += pool.dim[1].dilation)
      for (int64_t k = begin[2]; k < end[2]; k += pool.dim[2].dilation)
        f((i * pool.dim[1].in + j) * pool.dim[2].in + k);
}

// f(window in the plane, its places) for each window between whose ends element `at` lies, in
// order.
template <class F>
__device__ void each_window(const Pool& pool, const int64_t (&at)[kSpatial], const F& f) {
  int64_t o[kSpatial];
  for (o[0] = pool.dim[0].first_over(at[0]); o[0] < pool.dim[0].end_over(at[0]); ++o[0])
    for (o[1] = pool.dim[1].first_over(at[1]); o[1] < pool.dim[1].end_over(at[1]); ++o[1])
      for (o[2] = pool.dim[2].first_over(at[2]); o[2] < pool.dim[2].end_over(at[2]); ++o[2])
        f((o[0] * pool.dim[1].out + o[1]) * pool.dim[2].out + o[2], o);
}

template <class T>
__global__ void max_pool_kernel(Pool pool, int64_t n, const T* x, T* values, int64_t* indices) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto o = places_of(i, pool.dim[1].out, pool.dim[2].out, pool.outputs());
  x += o.plane * pool.inputs();
  T most = kLeastNumber<T>;
  int64_t where = -1;
  each_element(pool, o.at, [&](int64_t place) {
    const T each = x[place];
    if (where < 0 || each > most || each != each) most = each, where = place;
  });
  values[i] = most;
  indices[i] = ::max(where, int64_t{0});
}

template <class T>
__global__ void max_pool_grad_kernel(Pool pool, int64_t n, const T* grad, const int64_t* indices,
                                     T* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = places_of(i, pool.dim[1].in, pool.dim[2].in, pool.inputs());
  const int64_t place = i - at.plane * pool.inputs(), first = at.plane * pool.outputs();
  T sum = 0;
  each_window(pool, at.at, [&](int64_t window, const int64_t(&)[kSpatial]) {
    if (indices[first + window] == place) sum += grad[first + window];
  });
  out[i] = sum;
}

template <class T>
__global__ void average_pool_kernel(Pool pool, int64_t n, const T* x, T* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto o = places_of(i, pool.dim[1].out, pool.dim[2].out, pool.outputs());
  x += o.plane * pool.inputs();
  T sum = 0;
  each_element(pool, o.at, [&](int64_t place) { sum += x[place]; });
  out[i] = sum / static_cast<T>(pool.divisor_at(o.at));
}

template <class T>
__global__ void average_pool_grad_kernel(Pool pool, int64_t n, const T* grad, T* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = places_of(i, pool.dim[1].in, pool.dim[2].in, pool.inputs());
  grad += at.plane * pool.outputs();
  T sum = 0;
  each_window(pool, at.at, [&](int64_t window, const int64_t(&o)[kSpatial]) {
    sum += grad[window] / static_cast<T>(pool.divisor_at(o));
  });
  out[i] = sum;
}

}  // namespace gradus::cuda
