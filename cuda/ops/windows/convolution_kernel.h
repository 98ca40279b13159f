// A kernel of convolutions as the host sees it.
#pragma once

#include <optional>

#include "gradus/cuda/kernels/windows/implicit_gemm.cuh"

namespace gradus::cuda {

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

// The kernel for small convolutions of few rows; sets args.direct. Nothing where it is none.
std::optional<ConvolutionKernel<float>> direct_convolution(ConvolutionPass part,
                                                           ConvolutionArgs<float>& args);

// The kernel by tensor cores for such a product of float32. Sets args.pitch where it takes patches.
// REQUIRES: has_tensor_cores(); args.parts == 1.
ConvolutionKernel<float> tensor_core_convolution(ConvolutionPass part,
                                                 ConvolutionArgs<float>& args);

}  // namespace gradus::cuda
