// Pools. The forward has a thread for each window. The backward has one for each element of the
// input; it goes over the windows that reach over the element in order, so that its sum is
// reproducible. Half types are compared and added up in float32, and rounded once.
#pragma once

#include <limits>

#include "gradus/cuda/kernels/computed.cuh"
#include "gradus/cuda/kernels/pdl.cuh"
#include "gradus/cuda/kernels/vector.cuh"
#include "gradus/tensor/base/windows.h"

namespace gradus::cuda {

template <class T>
inline constexpr T kLeastNumber = std::numeric_limits<T>::has_infinity
                                      ? -std::numeric_limits<T>::infinity()
                                      : std::numeric_limits<T>::lowest();

// Places of an element of a plane of such sizes, or of a window. Element p of a plane of `volume`
// ones is first(volume) + p * step in memory.
template <class Index>
struct PlanePlaces {
  Index plane, channel, step, at[kSpatial];

  __device__ Index first(Index volume) const { return plane * volume * step + channel; }
};
template <class Index>
__device__ PlanePlaces<Index> places_of(Index i, Index size1, Index size2, Index volume,
                                        Index channels) {
  PlanePlaces<Index> out;
  out.channel = 0, out.step = channels;
  if (channels > 1) {
    const Index place = i / channels;
    out.channel = i - place * channels;
    i = place;
  }
  out.plane = i / volume;
  Index rest = i - out.plane * volume;
  out.at[0] = rest / (size1 * size2);
  rest -= out.at[0] * size1 * size2;
  out.at[1] = rest / size2;
  out.at[2] = rest - out.at[1] * size2;
  return out;
}

// f(place in the plane, place in the window) for each element of a window that lies within, in
// order.
template <class Index, class F>
__device__ void each_element(const PoolOf<Index>& pool, const Index (&o)[kSpatial], const F& f) {
  Index begin[kSpatial], end[kSpatial], before[kSpatial] = {};
  for (int d = 0; d < kSpatial; ++d) {
    const WindowDimOf<Index>& w = pool.dim[d];
    begin[d] = w.begin(o[d]);
    if (begin[d] < 0) {
      before[d] = (-begin[d] + w.dilation - 1) / w.dilation;
      begin[d] += before[d] * w.dilation;
    }
    end[d] = ::min(w.end(o[d]), w.in);
  }
  Index a = before[0];
  for (Index i = begin[0]; i < end[0]; i += pool.dim[0].dilation, ++a) {
    Index b = a * pool.dim[1].kernel + before[1];
    for (Index j = begin[1]; j < end[1]; j += pool.dim[1].dilation, ++b) {
      Index c = b * pool.dim[2].kernel + before[2];
      for (Index k = begin[2]; k < end[2]; k += pool.dim[2].dilation, ++c)
        f((i * pool.dim[1].in + j) * pool.dim[2].in + k, c);
    }
  }
}

// The index of element `at` if it is the largest one of window o. P is the type of indices: the
// place in the plane; as a byte, that in the window, or -1 where the window lacks the element.
template <class P, class Index>
__device__ Index place_for(const PoolOf<Index>& pool, const Index (&o)[kSpatial],
                           const Index (&at)[kSpatial]) {
  if constexpr (sizeof(P) != 1) {
    return (at[0] * pool.dim[1].in + at[1]) * pool.dim[2].in + at[2];
  } else {
    Index out = 0;
    for (int d = 0; d < kSpatial; ++d) {
      const WindowDimOf<Index>& w = pool.dim[d];
      const Index apart = at[d] - w.begin(o[d]);
      const Index step = w.dilation == 1 ? apart : apart / w.dilation;
      if (apart < 0 || step >= w.kernel || step * w.dilation != apart) return -1;
      out = out * w.kernel + step;
    }
    return out;
  }
}

// f(window in the plane, its places) for each window that covers element `at`, in order.
template <class Index, class F>
__device__ void each_window(const PoolOf<Index>& pool, const Index (&at)[kSpatial], const F& f) {
  Index o[kSpatial];
  for (o[0] = pool.dim[0].first_over(at[0]); o[0] < pool.dim[0].end_over(at[0]); ++o[0])
    for (o[1] = pool.dim[1].first_over(at[1]); o[1] < pool.dim[1].end_over(at[1]); ++o[1])
      for (o[2] = pool.dim[2].first_over(at[2]); o[2] < pool.dim[2].end_over(at[2]); ++o[2])
        f((o[0] * pool.dim[1].out + o[1]) * pool.dim[2].out + o[2], o);
}

template <class Index>
struct CellsOf {
  Index at[kSpatial];
};

// A thread takes V neighbouring channels of a place. `pool` counts V channels as one. P: the type
// of indices, as above.
template <class T, class P, int V, class Index>
__global__ void max_pool_kernel(PoolOf<Index> pool, Index n, const Vector<T, V>* x,
                                Vector<T, V>* values, Vector<P, V>* indices) {
  wait_for_earlier_kernels();
  const auto i = static_cast<Index>(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const auto o = places_of(i, pool.dim[1].out, pool.dim[2].out, pool.outputs(), pool.channels);
  x += o.first(pool.inputs());
  using S = Computed<T>;
  S most[V];
  Index where[V];
#pragma unroll
  for (int v = 0; v < V; ++v) most[v] = kLeastNumber<S>, where[v] = -1;
  each_element(pool, o.at, [&](Index place, Index in_window) {
    const auto all = x[place * o.step];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const S each = static_cast<S>(all.at[v]);
      if (where[v] < 0 || each > most[v] || each != each)
        most[v] = each, where[v] = sizeof(P) == 1 ? in_window : place;
    }
  });
  Vector<T, V> of_values;
  Vector<P, V> of_indices;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    of_values.at[v] = static_cast<T>(most[v]);
    of_indices.at[v] = static_cast<P>(::max(where[v], Index{0}));
  }
  values[i] = of_values, indices[i] = of_indices;
}

template <class T, class P, int V, class Index>
__global__ void max_pool_grad_kernel(PoolOf<Index> pool, Index n, const Vector<T, V>* grad,
                                     const Vector<P, V>* indices, Vector<T, V>* out) {
  wait_for_earlier_kernels();
  const auto i = static_cast<Index>(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const auto at = places_of(i, pool.dim[1].in, pool.dim[2].in, pool.inputs(), pool.channels);
  const Index first = at.first(pool.outputs());
  using S = Computed<T>;
  S sum[V] = {};
  each_window(pool, at.at, [&](Index window, const Index(&o)[kSpatial]) {
    const Index j = first + window * at.step;
    const auto place = place_for<P>(pool, o, at.at);
    const auto where = indices[j];
    const auto all = grad[j];
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (where.at[v] == place) sum[v] += static_cast<S>(all.at[v]);
  });
  Vector<T, V> result;
#pragma unroll
  for (int v = 0; v < V; ++v) result.at[v] = static_cast<T>(sum[v]);
  out[i] = result;
}

// The same by cells. A cell is the elements from the first one of a window up to that of the next.
// A thread takes a cell, and reads its windows once. kWindows: how many windows of a dimension an
// element may lie in, 1 or 2; of the first dimension 1. `cells`: how many each dimension has, from
// cell padding / stride on.
// REQUIRES: windows are not adaptive, have no dilation, and are at most kWindows strides long.
template <class T, class P, int V, int kWindows, class Index>
__global__ void max_pool_grad_cells_kernel(PoolOf<Index> pool, CellsOf<Index> cells, Index n,
                                           const Vector<T, V>* grad, const Vector<P, V>* indices,
                                           Vector<T, V>* out) {
  wait_for_earlier_kernels();
  const auto i = static_cast<Index>(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const auto cell = places_of(i, cells.at[1], cells.at[2], cells.at[0] * cells.at[1] * cells.at[2],
                              pool.channels);
  const Index first = cell.first(pool.outputs());
  out += cell.first(pool.inputs());
  Index last[kSpatial];  // the cell's own window, which begins with it
#pragma unroll
  for (int d = 0; d < kSpatial; ++d)
    last[d] = cell.at[d] + pool.dim[d].padding / pool.dim[d].stride;
  // How many windows window w is before the cell's own one.
  constexpr int kAll = kWindows * kWindows;
  const auto before = [](int w, int d) {
    return d == 0 ? 0 : d == 1 ? w / kWindows : w % kWindows;
  };
  bool exists[kAll];
  Vector<T, V> grads[kAll];
  Vector<P, V> most[kAll];
#pragma unroll
  for (int w = 0; w < kAll; ++w) {
    Index window = 0;
    exists[w] = true;
#pragma unroll
    for (int d = 0; d < kSpatial; ++d) {
      const auto& dim = pool.dim[d];
      const Index o = last[d] - before(w, d);
      exists[w] &= o >= 0 && o < dim.out && before(w, d) * dim.stride < dim.kernel;
      window = window * dim.out + o;
    }
    if (exists[w])
      grads[w] = grad[first + window * cell.step], most[w] = indices[first + window * cell.step];
  }
  Index begin[kSpatial], from[kSpatial], to[kSpatial];  // the elements of the cell that there are
#pragma unroll
  for (int d = 0; d < kSpatial; ++d) {
    begin[d] = pool.dim[d].begin(last[d]);
    from[d] = ::max(-begin[d], Index{0}),
    to[d] = ::min(pool.dim[d].stride, pool.dim[d].in - begin[d]);
  }
  for (Index a = from[0]; a < to[0]; ++a)
    for (Index b = from[1]; b < to[1]; ++b)
      for (Index c = from[2]; c < to[2]; ++c) {
        const Index of_cell[] = {a, b, c};
        Index place = 0;
#pragma unroll
        for (int d = 0; d < kSpatial; ++d) place = place * pool.dim[d].in + begin[d] + of_cell[d];
        Computed<T> sum[V] = {};
#pragma unroll
        for (int w = kAll - 1; w >= 0; --w) {  // in the order of windows
          Index wanted = 0;
          bool covers = exists[w];
#pragma unroll
          for (int d = 0; d < kSpatial; ++d) {
            const auto& dim = pool.dim[d];
            const Index in_window = of_cell[d] + before(w, d) * dim.stride;
            covers &= in_window < dim.kernel;
            wanted = wanted * dim.kernel + in_window;
          }
          if (!covers) continue;
          if constexpr (sizeof(P) != 1) wanted = place;
#pragma unroll
          for (int v = 0; v < V; ++v)
            if (most[w].at[v] == wanted) sum[v] += static_cast<Computed<T>>(grads[w].at[v]);
        }
        Vector<T, V> result;
#pragma unroll
        for (int v = 0; v < V; ++v) result.at[v] = static_cast<T>(sum[v]);
        out[place * cell.step] = result;
      }
}

template <class T, int V, class Index>
__global__ void average_pool_kernel(PoolOf<Index> pool, Index n, const Vector<T, V>* x,
                                    Vector<T, V>* out) {
  wait_for_earlier_kernels();
  const auto i = static_cast<Index>(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const auto o = places_of(i, pool.dim[1].out, pool.dim[2].out, pool.outputs(), pool.channels);
  x += o.first(pool.inputs());
  using S = Computed<T>;
  S sum[V] = {};
  each_element(pool, o.at, [&](Index place, Index) {
    const auto all = x[place * o.step];
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += static_cast<S>(all.at[v]);
  });
  const S divisor = static_cast<S>(pool.divisor_at(o.at));
  Vector<T, V> result;
#pragma unroll
  for (int v = 0; v < V; ++v) result.at[v] = static_cast<T>(sum[v] / divisor);
  out[i] = result;
}

template <class T, int V, class Index>
__global__ void average_pool_grad_kernel(PoolOf<Index> pool, Index n, const Vector<T, V>* grad,
                                         Vector<T, V>* out) {
  wait_for_earlier_kernels();
  const auto i = static_cast<Index>(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const auto at = places_of(i, pool.dim[1].in, pool.dim[2].in, pool.inputs(), pool.channels);
  grad += at.first(pool.outputs());
  using S = Computed<T>;
  S sum[V] = {};
  each_window(pool, at.at, [&](Index window, const Index(&o)[kSpatial]) {
    const auto all = grad[window * at.step];
    const S divisor = static_cast<S>(pool.divisor_at(o));
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += static_cast<S>(all.at[v]) / divisor;
  });
  Vector<T, V> result;
#pragma unroll
  for (int v = 0; v < V; ++v) result.at[v] = static_cast<T>(sum[v]);
  out[i] = result;
}

}  // namespace gradus::cuda
