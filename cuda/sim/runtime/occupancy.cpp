// How many blocks fit on a multiprocessor, and device attributes.
#include <sim/occupancy.h>

#include <algorithm>

#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/exec/cluster.h"
#include "gradus/cuda/sim/runtime/device.h"

using namespace gradus::cuda::sim;

namespace {

constexpr int kMostBlocks = 32, kWarpSize = 32;
constexpr size_t kReservedShared = 1 << 10;  // of each block, by the system
constexpr int kMostOfBlock = 1024;

cudaDeviceProp properties() {
  cudaDeviceProp out{};
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) cudaGetDeviceProperties(&out, device);
  return out;
}

int blocks_that_fit(const cudaDeviceProp& device, int threads, size_t shared) {
  if (shared > device.sharedMemPerBlockOptin) return 0;
  const int warps = (threads + kWarpSize - 1) / kWarpSize;
  const int by_threads = device.maxThreadsPerMultiProcessor / (warps * kWarpSize);
  const size_t by_shared = device.sharedMemPerMultiprocessor / (shared + kReservedShared);
  return std::min({kMostBlocks, by_threads, static_cast<int>(by_shared)});
}

}  // namespace

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t dynamic_shared) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!blocks || threads < 1) return result(cudaErrorInvalidValue);
  *blocks = threads > kMostOfBlock ? 0
                                   : blocks_that_fit(properties(), threads,
                                                     static_shared_bytes(kernel) + dynamic_shared);
  return result(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!clusters || !config) return result(cudaErrorInvalidValue);
  unsigned size = cluster_size_of(kernel);
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& [x, y, z] = config->attrs[i].val.clusterDim;
      size = x * y * z;
    }
  if (size == 0) return result(cudaErrorInvalidValue);
  const dim3 block = config->blockDim;
  const auto threads = static_cast<int>(block.x * block.y * block.z);
  const cudaDeviceProp device = properties();
  const int fit = threads < 1 || threads > kMostOfBlock || size > Cluster::kMost
                      ? 0
                      : blocks_that_fit(device, threads,
                                        static_shared_bytes(kernel) + config->dynamicSmemBytes);
  *clusters = fit * device.multiProcessorCount / static_cast<int>(size);
  return result(cudaSuccess);
}

cudaError_t gradus::cuda::sim::best_block(int* least_grid, int* threads, const void* kernel,
                                          size_t dynamic_shared, int most_threads) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!least_grid || !threads || most_threads < 0) return result(cudaErrorInvalidValue);
  const cudaDeviceProp device = properties();
  const size_t shared = static_shared_bytes(kernel) + dynamic_shared;
  int limit = most_threads == 0 ? kMostOfBlock : std::min(most_threads, kMostOfBlock);
  *threads = *least_grid = 0;
  for (int best = 0; limit > 0; limit = (limit - 1) / kWarpSize * kWarpSize) {
    const int blocks = blocks_that_fit(device, limit, shared);
    if (blocks * limit <= best) continue;
    best = blocks * limit;
    *threads = limit;
    *least_grid = blocks * device.multiProcessorCount;
  }
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp has{};
  if (!value) return result(cudaErrorInvalidValue);
  if (const cudaError_t status = cudaGetDeviceProperties(&has, device)) return status;
  const auto give = [&](auto number) {
    *value = static_cast<int>(number);
    return result(cudaSuccess);
  };
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return give(has.maxThreadsPerBlock);
    case cudaDevAttrMaxBlockDimZ:
      return give(64);
    case cudaDevAttrMaxGridDimX:
      return give(0x7fffffff);
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return give(65535);
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return give(has.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return give(64 << 10);
    case cudaDevAttrWarpSize:
      return give(has.warpSize);
    case cudaDevAttrMaxRegistersPerBlock:
      return give(has.regsPerBlock);
    case cudaDevAttrMultiProcessorCount:
      return give(has.multiProcessorCount);
    case cudaDevAttrL2CacheSize:
      return give(has.l2CacheSize);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return give(has.maxThreadsPerMultiProcessor);
    case cudaDevAttrComputeCapabilityMajor:
      return give(has.major);
    case cudaDevAttrComputeCapabilityMinor:
      return give(has.minor);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return give(has.sharedMemPerMultiprocessor);
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
      return give(0);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return give(has.sharedMemPerBlockOptin);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return give(kMostBlocks);
  }
  return result(cudaErrorInvalidValue);
}
