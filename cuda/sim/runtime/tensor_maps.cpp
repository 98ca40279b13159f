// Describes tensors to the tensor memory accelerator, and refuses what the driver refuses.
#include "gradus/cuda/sim/runtime/tensor_maps.h"

#include <cstring>
#include <limits>
#include <string_view>

namespace {

unsigned bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
  }
  return 0;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dims,
                                void* data, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  using gradus::cuda::sim::TensorMap;
  TensorMap out = {};
  out.mark = TensorMap::kMark;
  out.bytes = static_cast<uint8_t>(bytes_of(type));
  out.dims = static_cast<uint8_t>(dims);
  out.swizzle = static_cast<uint8_t>(swizzle);
  out.data = static_cast<unsigned char*>(data);
  if (!map || out.bytes == 0 || dims < 1 || dims > 5 || reinterpret_cast<uintptr_t>(data) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (cuuint32_t d = 0; d < dims; ++d) {
    if (sizes[d] == 0 || sizes[d] > std::numeric_limits<uint32_t>::max() || box[d] == 0 ||
        box[d] > 256)
      return CUDA_ERROR_INVALID_VALUE;
    if (steps[d] != 1) return CUDA_ERROR_NOT_SUPPORTED;
    if (d > 0 && (strides[d - 1] % 16 != 0 || strides[d - 1] >= cuuint64_t{1} << 40))
      return CUDA_ERROR_INVALID_VALUE;
    out.sizes[d] = static_cast<uint32_t>(sizes[d]);
    out.box[d] = static_cast<uint16_t>(box[d]);
    if (d > 0) out.strides[d - 1] = static_cast<int64_t>(strides[d - 1]);
  }
  const int line = out.line_bytes();
  if (line % 16 != 0 || (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && line > 16 << swizzle))
    return CUDA_ERROR_INVALID_VALUE;
  *map = {};
  std::memcpy(map, &out, sizeof out);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                 const cuuint64_t*, const cuuint64_t*, const int*, const int*,
                                 cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  if (!name || !function) return cudaErrorInvalidValue;
  const std::string_view wanted = name;
  *function = wanted == "cuTensorMapEncodeTiled" ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled)
              : wanted == "cuTensorMapEncodeIm2col"
                  ? reinterpret_cast<void*>(&cuTensorMapEncodeIm2col)
                  : nullptr;
  if (result)
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *function ? cudaSuccess : cudaErrorInvalidValue;
}
