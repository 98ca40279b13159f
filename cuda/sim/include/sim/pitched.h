// Memory in rows that are further apart than they are long.
#pragma once

#include <cuda_runtime_api.h>

cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height);

template <class T>
cudaError_t cudaMallocPitch(T** memory, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(memory), pitch, width, height);
}
