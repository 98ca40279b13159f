// A kernel of convolutions as the host sees it.
#pragma once

#include <limits>
#include <numeric>

#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"
#include "gradus/cuda/ops/matmul/sum_parts.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/base/batch_invariant.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Terms and columns are counted in 32 bits; so are the elements of a channel.
inline int counted(int64_t count) {
  check<NotImplementedError>(count <= std::numeric_limits<int>::max() / 2, "convolution: ", count,
                             " places or taps are more than a kernel counts; split the batch");
  return static_cast<int>(count);
}

// The samples by which kernels, their cuts and the parts of their sums are chosen: those of the
// batch, or always as many where rows may not depend on it.
inline int64_t planned_batch(int64_t batch) {
  constexpr int64_t kPlanned = 32;
  return gradus::detail::batch_invariant() && batch > 0 ? kPlanned : batch;
}

// The elements of the input that are `stride` apart from element `first` on, in one dimension.
inline Phase phase_of(const WindowDim& dim, int64_t first) {
  const int64_t step = dim.stride / std::gcd(dim.stride, dim.dilation);
  Phase out{};
  out.first = counted(first), out.stride = counted(dim.stride);
  out.count = counted(ceil_div(dim.in - first, dim.stride));
  out.tap_step = counted(step), out.reach = counted(step * dim.dilation / dim.stride);
  for (int64_t tap = 0; tap < std::min(step, dim.kernel); ++tap)
    if (const int64_t place = first + dim.padding - tap * dim.dilation; place % dim.stride == 0) {
      out.tap = counted(tap), out.taps = counted(ceil_div(dim.kernel - tap, step));
      out.place = static_cast<int>(place / dim.stride);
    }
  return out;
}

// sum_parts, to `wide` and `wide_sums` where `wide` is not null.
template <class T, class Out>
void add_parts(const T* partial, int64_t parts, const MatmulArgs<T, Out>& sum, T* wide,
               T* wide_sums = nullptr) {
  if (!wide) return sum_parts(partial, parts, sum);
  MatmulArgs<T> other{};
  other.out = wide, other.row_sums = wide_sums, other.m = sum.m, other.n = sum.n;
  sum_parts(partial, parts, other);
}

template <class T>
struct ConvolutionKernel {
  void (*run)(ConvolutionArgs<T>);
  int rows, columns;  // results that a block makes
  int step;           // parts of the depth are multiples of it
  int threads;
  int shared_bytes = 0;    // dynamic
  int64_t tiles = -1;      // blocks of a part; below 0: as many as tiles of rows and columns
  bool sums_rows = false;  // see ConvolutionArgs::row_sums
  int parts = 0;           // into which the depth is cut; 0: as the model of all kernels says
};

// The kernel by tensor cores for such a product of float32. Sets args.pitch where it takes patches.
// REQUIRES: has_tensor_cores(); args.parts == 1.
ConvolutionKernel<float> tensor_core_convolution(ConvolutionPass part,
                                                 ConvolutionArgs<float>& args);
// Where rows may not depend on the batch, that kernel is chosen without it. Returns one that adds
// in the same order, and whose tiles suit the batch.
ConvolutionKernel<float> tile_for_batch(ConvolutionPass part, const ConvolutionArgs<float>& args,
                                        const ConvolutionKernel<float>& kernel);

// Backend::convolution of half types; the gradient of the weight may be Float. Returns false, and
// does nothing, for three dimensions. So it does for groups whose channels or filters are no
// multiple of 8.
bool half_convolution(ConvolutionPass pass, const Convolution& shape, const Tensor& a,
                      const Tensor& b, const Tensor& bias, const Tensor& out);
// The same of float32 rounded to TF32, whose groups need multiples of 4. REQUIRES:
// has_tensor_cores().
bool tf32_convolution(ConvolutionPass pass, const Convolution& shape, const Tensor& a,
                      const Tensor& b, const Tensor& bias, const Tensor& out);

}  // namespace gradus::cuda
