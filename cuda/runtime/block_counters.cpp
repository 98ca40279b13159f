// The counters of blocks, by stream.
#include "gradus/cuda/runtime/block_counters.h"

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/graph.h"

namespace gradus::cuda {

unsigned* block_counters() {
  if (Graph* const graph = Graph::capturing()) return graph->block_counters();
  const Stream stream = getCurrentCUDAStream();
  static std::map<std::pair<int, void*>, std::shared_ptr<void>> all;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& mine = all[{stream.device_index(), stream.handle()}];
  if (!mine) {
    constexpr size_t kBytes = kBlockCounters * sizeof(unsigned);
    auto made = detail::allocate_apart(kBytes);
    check_cuda(cudaMemsetAsync(made.get(), 0, kBytes, static_cast<cudaStream_t>(stream.handle())),
               "cudaMemsetAsync of counters of blocks");
    mine = std::move(made);
  }
  return static_cast<unsigned*>(mine.get());
}

}  // namespace gradus::cuda
