// The resources of a device and a kernel, in single numbers, and how many blocks fit on a
// multiprocessor by their threads and shared memory. Registers are unknown here.
#pragma once

#include <cuda_runtime_api.h>

// Values as in CUDA 13.
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
};
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);

struct cudaFuncAttributes {
  size_t sharedSizeBytes;  // static
  int maxThreadsPerBlock;
  int maxDynamicSharedSizeBytes;
  int ptxVersion;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t dynamic_shared);
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int threads,
                                                          size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, dynamic_shared);
}

// How many clusters run at once; 0 for sizes that not every chip runs. `config` gives the size.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config);

namespace gradus::cuda::sim {
cudaError_t best_block(int* least_grid, int* threads, const void* kernel, size_t dynamic_shared,
                       int most_threads);
}
// The largest block, of at most `most_threads` where that is not 0, with which a multiprocessor has
// as many threads as it can; and the least grid that fills the device.
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* least_grid, int* threads, T kernel,
                                               size_t dynamic_shared = 0, int most_threads = 0) {
  return gradus::cuda::sim::best_block(least_grid, threads, reinterpret_cast<const void*>(kernel),
                                       dynamic_shared, most_threads);
}
