// Memory and copies with a pitch.
#include <sim/pitched.h>

#include "gradus/cuda/sim/runtime/device.h"

using namespace gradus::cuda::sim;

cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height) {
  constexpr size_t kApart = 512;
  if (!pitch) return result(cudaErrorInvalidValue);
  const size_t rows_apart = (width + kApart - 1) / kApart * kApart;
  if (height > 0 && rows_apart > SIZE_MAX / height) return result(cudaErrorMemoryAllocation);
  const cudaError_t status = cudaMalloc(memory, rows_apart * height);
  if (status == cudaSuccess) *pitch = rows_apart;
  return status;
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (to_pitch < width || from_pitch < width) return result(cudaErrorInvalidPitchValue);
  if (width == 0) return result(cudaSuccess);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t status =
        cudaMemcpyAsync(static_cast<char*>(to) + row * to_pitch,
                        static_cast<const char*>(from) + row * from_pitch, width, kind, stream);
    if (status != cudaSuccess) return status;
  }
  return result(cudaSuccess);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (pitch < width) return result(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height && width > 0; ++row)
    if (const auto status = cudaMemset(static_cast<char*>(memory) + row * pitch, value, width))
      return status;
  return result(cudaSuccess);
}
