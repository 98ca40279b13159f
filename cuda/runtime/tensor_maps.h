// Descriptions of tensors in memory for Hopper's tensor memory accelerator. The lines of all boxes
// have at most 128 bytes and are swizzled (kernels/hopper/wgmma.cuh).
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>

#include "gradus/cuda/runtime/check.h"
#include "gradus/tensor/base/error.h"

namespace gradus::cuda {

// The first dimension is contiguous. Counts and strides are in elements. A size of 0 is that of no
// dimension.
struct Boxes {
  const void* data;
  CUtensorMapDataType type;
  int bytes;  // of an element
  std::array<int64_t, 4> sizes;
  std::array<int64_t, 3> strides;
  std::array<int, 4> box;
};

// Columns of pixels, gathered for the taps of a convolution, of a tensor that lies with its
// channels last. Width comes before height. Pixels are `steps` apart, from `lower` to
// size - 1 + upper.
struct PixelColumns {
  const void* data;
  CUtensorMapDataType type;
  int bytes;
  std::array<int64_t, 4> sizes;  // channels, width, height, samples
  int64_t pitch;                 // from a pixel to the next
  std::array<int, 2> lower, upper, steps;
  int pixels, channels;  // of a copy
};

namespace detail {
template <class Encode>
Encode driver_function(const char* name, const char* operation) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result),
             operation);
  return reinterpret_cast<Encode>(function);
}
inline cuuint64_t size_in(int64_t count, int bytes = 1) {
  return static_cast<cuuint64_t>(count * bytes);
}
}  // namespace detail

// Errors: Error where the driver refuses; `fix` is the way around it.
inline CUtensorMap map_of(const Boxes& of, const char* operation, const char* fix) {
  static const auto encode = detail::driver_function<decltype(&cuTensorMapEncodeTiled)>(
      "cuTensorMapEncodeTiled", operation);
  const auto size = detail::size_in;
  cuuint64_t sizes[4], strides[3];
  cuuint32_t box[4], steps[4], dims = 0;
  for (; dims < 4 && of.sizes[dims] > 0; ++dims) {
    sizes[dims] = size(of.sizes[dims], 1), steps[dims] = 1;
    box[dims] = static_cast<cuuint32_t>(of.box[dims]);
    if (dims > 0) strides[dims - 1] = size(of.strides[dims - 1], of.bytes);
  }
  CUtensorMap map;
  const CUresult status =
      encode(&map, of.type, dims, const_cast<void*>(of.data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check<Error>(status == CUDA_SUCCESS, operation, ": cuTensorMapEncodeTiled failed with status ",
               static_cast<int>(status), "; try ", fix);
  return map;
}

inline CUtensorMap map_of(const PixelColumns& of, const char* operation, const char* fix) {
  static const auto encode = detail::driver_function<decltype(&cuTensorMapEncodeIm2col)>(
      "cuTensorMapEncodeIm2col", operation);
  const auto size = detail::size_in;
  cuuint64_t sizes[4], strides[3];
  for (size_t d = 0; d < 4; ++d) sizes[d] = size(of.sizes[d], 1);
  int64_t stride = of.pitch;
  for (size_t d = 0; d < 3; ++d) strides[d] = size(stride, of.bytes), stride *= of.sizes[d + 1];
  const auto step = [&](size_t d) { return static_cast<cuuint32_t>(of.steps[d]); };
  const cuuint32_t steps[4] = {1, step(0), step(1), 1};
  CUtensorMap map;
  const CUresult status = encode(
      &map, of.type, 4, const_cast<void*>(of.data), sizes, strides, of.lower.data(),
      of.upper.data(), static_cast<cuuint32_t>(of.channels), static_cast<cuuint32_t>(of.pixels),
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check<Error>(status == CUDA_SUCCESS, operation, ": cuTensorMapEncodeIm2col failed with status ",
               static_cast<int>(status), "; try ", fix);
  return map;
}

}  // namespace gradus::cuda
