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
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
  }
  return 0;
}

// Fills in what both kinds of maps have. The box's first size is known.
CUresult describe(gradus::cuda::sim::TensorMap& out, CUtensorMapDataType type, cuuint32_t dims,
                  void* data, const cuuint64_t* sizes, const cuuint64_t* strides,
                  CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                  CUtensorMapFloatOOBfill fill) {
  out.mark = gradus::cuda::sim::TensorMap::kMark;
  out.bytes = static_cast<uint8_t>(bytes_of(type));
  out.dims = static_cast<uint8_t>(dims);
  out.swizzle = static_cast<uint8_t>(swizzle);
  out.rounds = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  out.type = type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16  ? 'b'
             : type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ? 'h'
             : type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 'f'
                                                       : '\0';
  out.data = static_cast<unsigned char*>(data);
  if (out.bytes == 0 || dims < 1 || dims > 5 || reinterpret_cast<uintptr_t>(data) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (cuuint32_t d = 0; d < dims; ++d) {
    if (sizes[d] == 0 || sizes[d] > std::numeric_limits<uint32_t>::max())
      return CUDA_ERROR_INVALID_VALUE;
    if (d > 0 && (strides[d - 1] % 16 != 0 || strides[d - 1] >= cuuint64_t{1} << 40))
      return CUDA_ERROR_INVALID_VALUE;
    out.sizes[d] = static_cast<uint32_t>(sizes[d]);
    if (d > 0) out.strides[d - 1] = static_cast<int64_t>(strides[d - 1]);
  }
  const int line = out.line_bytes();
  if (line % 16 != 0 || (swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && line > 16 << swizzle))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult give_map(CUtensorMap* map, const gradus::cuda::sim::TensorMap& from, CUresult status) {
  if (status != CUDA_SUCCESS) return status;
  *map = {};
  std::memcpy(map, &from, sizeof from);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dims,
                                void* data, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  gradus::cuda::sim::TensorMap out = {};
  if (!map || dims < 1 || dims > 5) return CUDA_ERROR_INVALID_VALUE;
  for (cuuint32_t d = 0; d < dims; ++d) {
    if (box[d] == 0 || box[d] > 256) return CUDA_ERROR_INVALID_VALUE;
    if (steps[d] != 1) return CUDA_ERROR_NOT_SUPPORTED;
    out.box[d] = static_cast<uint16_t>(box[d]);
  }
  return give_map(map, out,
                  describe(out, type, dims, data, sizes, strides, interleave, swizzle, fill));
}

// The limits are those of the driver's reference for tensors of 3, 4 and 5 dimensions.
CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dims,
                                 void* data, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  gradus::cuda::sim::TensorMap out = {};
  if (!map || dims < 3 || dims > 5 || channels == 0 || channels > 256 || pixels == 0 ||
      pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  out.pixels = true;
  out.box[0] = static_cast<uint16_t>(channels);
  out.box[1] = static_cast<uint16_t>(pixels);
  if (steps[0] != 1 || steps[dims - 1] != 1) return CUDA_ERROR_NOT_SUPPORTED;
  const int least = dims == 3 ? -32768 : dims == 4 ? -128 : -16;
  for (cuuint32_t d = 0; d + 2 < dims; ++d) {
    if (lower[d] < least || upper[d] < least || lower[d] >= -least || upper[d] >= -least ||
        steps[d + 1] == 0 || steps[d + 1] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    out.lower[d] = static_cast<int16_t>(lower[d]);
    out.upper[d] = static_cast<int16_t>(upper[d]);
    out.steps[d] = static_cast<uint8_t>(steps[d + 1]);
  }
  return give_map(map, out,
                  describe(out, type, dims, data, sizes, strides, interleave, swizzle, fill));
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
