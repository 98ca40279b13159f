// The caching allocator, a memory pool: the block pools of the devices, and their counters.
#include "gradus/cuda/runtime/allocator.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <deque>

#include "gradus/cuda/runtime/block_pool.h"
#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/graph_memory.h"
#include "gradus/cuda/runtime/memory_marks.h"
#include "gradus/cuda/runtime/relaunch.h"
#include "gradus/cuda/runtime/stats.h"
#include "gradus/tensor/base/recycled.h"

namespace gradus::cuda {

namespace {

// While it lives, this thread may allocate beside a capture.
class Relaxed {
 public:
  Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class CudaMemory final : public DeviceMemory {
 public:
  explicit CudaMemory(int device) : device_(device) {}

  void* allocate(size_t nbytes) override {
    const DeviceGuard guard(device_);
    const Relaxed relaxed;
    void* data = nullptr;
    detail::count(detail::counters.mallocs);
    const cudaError_t status = cudaMalloc(&data, nbytes);
    if (status == cudaErrorMemoryAllocation) return cudaGetLastError(), nullptr;
    check_cuda(status, "cudaMalloc of ", nbytes, " bytes on cuda:", device_);
    return data;
  }

  void release(void* data) override {
    const Relaxed relaxed;
    detail::count(detail::counters.frees);
    const cudaError_t status = cudaFree(data);
    // The driver may be gone already at the end of the program, and the memory with it.
    if (status != cudaErrorCudartUnloading) check_cuda(status, "cudaFree on cuda:", device_);
  }

  void* mark(const Stream& stream) noexcept override try {
    auto event = std::make_unique<Event>();
    event->record(stream);
    return event.release();
  } catch (const std::exception&) {
    return nullptr;
  }

  void wait(const Stream& stream, void* mark) override {
    static_cast<Event*>(mark)->block(stream);
    discard(mark);
  }

  void discard(void* mark) noexcept override { delete static_cast<Event*>(mark); }

  uint64_t capture_of(const Stream& stream) noexcept override {
    return capture_id(static_cast<cudaStream_t>(stream.handle()));
  }

 private:
  int device_;
};

struct DevicePool {
  explicit DevicePool(int device) : memory(device), blocks(memory) {}
  CudaMemory memory;
  BlockPool blocks;
  std::atomic<double> fraction{1};  // of the device's memory that the blocks may take
};

// Never destroyed: tensors may outlive every static object.
std::deque<DevicePool>& pools() {
  static auto& all = *[] {
    auto* made = new std::deque<DevicePool>;
    for (int device = 0; device < device_count(); ++device) made->emplace_back(device);
    return made;
  }();
  return all;
}

BlockPool& pool(const char* operation, int device) {
  const int index = checked_device(operation, device);
  if (!is_available()) [[unlikely]]
    fail<Error>(operation, ": ", why_unavailable());
  return pools()[static_cast<size_t>(index)].blocks;
}

std::string readable(size_t nbytes) {
  char text[32];
  const bool large = nbytes >= size_t{1} << 27;
  std::snprintf(text, sizeof text, large ? "%.2f GiB" : "%.3f MiB",
                static_cast<double>(nbytes) / (large ? 1 << 30 : 1 << 20));
  return text;
}

// "1.00 GiB, 512.00 MiB (3 of them)", with a sentence around it; empty where nothing is in use.
std::string largest_blocks(const BlockPool& blocks) {
  constexpr size_t kMost = 10;
  const std::vector<size_t> sizes = blocks.largest_in_use(kMost);
  std::string out;
  for (size_t i = 0, end = 0; i < sizes.size(); i = end) {
    while (end < sizes.size() && sizes[end] == sizes[i]) ++end;
    out += (i > 0 ? ", " : "") + readable(sizes[i]);
    if (end - i > 1) out += " (" + std::to_string(end - i) + " of them)";
  }
  if (out.empty()) return out;
  return "\nthe largest blocks in use: " + out +
         "; profiler::profile with profile_memory says what made them";
}

[[noreturn]] void fail_out_of_memory(size_t nbytes, const Stream& stream, const BlockPool& blocks) {
  const MemoryStats now = blocks.stats();
  const DeviceGuard guard(stream.device_index());
  size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
  fail<OutOfMemoryError>("allocate: ", stream.device(), " has no room for ", nbytes, " bytes (",
                         readable(nbytes), "): this process has reserved ",
                         readable(static_cast<size_t>(now.reserved)), ", of which tensors hold ",
                         readable(static_cast<size_t>(now.allocated)), ", and ",
                         readable(available), " of ", readable(total),
                         " are free; use a smaller batch or free tensors that are no longer needed",
                         largest_blocks(blocks));
}

// Errors: OutOfMemoryError where the limit of the process leaves no room.
void check_limit(size_t nbytes, const Stream& stream, const BlockPool& blocks) {
  const int64_t reserved = blocks.stats().reserved, limit = blocks.limit();
  const size_t block = nbytes > SizeClass::kLargest ? nbytes : SizeClass::of(nbytes).nbytes;
  check<OutOfMemoryError>(
      reserved <= limit - static_cast<int64_t>(block), "allocate: ", nbytes, " bytes (",
      readable(nbytes), ") on ", stream.device(), ", beside ",
      readable(static_cast<size_t>(reserved)),
      " that this process has reserved, are more than its ", readable(static_cast<size_t>(limit)),
      " allowed; use a smaller batch, or cuda::set_per_process_memory_fraction");
}

Block* take(size_t nbytes, const Stream& stream) {
  if (nbytes == 0) return nullptr;
  BlockPool& blocks = pool("allocate", stream.device_index());
  Block* block = blocks.allocate(nbytes, stream);
  if (!block) [[unlikely]] {
    check_limit(nbytes, stream, blocks);
    fail_out_of_memory(nbytes, stream, blocks);
  }
  mark_used(*block, nbytes);
  return block;
}

void give_back(Block* block) noexcept {
  if (!block) return;
  mark_unused(*block);
  pools()[static_cast<size_t>(block->stream.device_index())].blocks.free(block);
}

class CudaStorage final : public StorageImpl {
 public:
  CudaStorage(size_t nbytes, const Stream& stream)
      : CudaStorage(take(nbytes, stream), nbytes, stream.device()) {}
  ~CudaStorage() override { give_back(block_); }
  Block* block() const { return block_; }

 private:
  CudaStorage(Block* block, size_t nbytes, Device device)
      : StorageImpl(block ? block->data : nullptr, nbytes, device), block_(block) {}

  Block* block_;
};

}  // namespace

StoragePtr detail::allocate(size_t nbytes, const Stream& stream) {
  return make_recycled<CudaStorage>(nbytes, stream);
}

std::shared_ptr<void> detail::allocate_apart(size_t nbytes) {
  const Stream stream = getCurrentCUDAStream();
  const BlockPool& blocks = pool("allocate", stream.device_index());
  void* const data = CudaMemory(stream.device_index()).allocate(nbytes);
  if (!data) fail_out_of_memory(nbytes, stream, blocks);
  return {data, [](void* memory) {
            const Relaxed relaxed;
            if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
          }};
}

void detail::begin_capture(int device, uint64_t capture, uint64_t graph) {
  pool("capture_begin", device).begin_capture(capture, graph);
}
void detail::end_capture(int device, uint64_t capture) {
  pool("capture_end", device).end_capture(capture);
}
void detail::release_graph(uint64_t graph, const Stream& stream) {
  pool("reset", stream.device_index()).release_graph(graph, stream, [](const Block& block) {
    mark_unused(block);
  });
}

Scratch::Scratch(size_t nbytes) : block_(take(nbytes, getCurrentCUDAStream())) {}
Scratch::~Scratch() { give_back(block_); }
void* Scratch::data() const { return block_ ? block_->data : nullptr; }

MemoryStats memory_stats(int device) { return pool("memory_stats", device).stats(); }
void reset_peak_memory_stats(int device) { pool("reset_peak_memory_stats", device).reset_peaks(); }

void set_per_process_memory_fraction(double fraction, int device) {
  constexpr const char* kName = "set_per_process_memory_fraction";
  check(fraction >= 0 && fraction <= 1, kName, ": fraction is ", fraction,
        ", expected a number from 0 to 1; give a part of the device's memory");
  BlockPool& blocks = pool(kName, device);
  const int index = checked_device(kName, device);
  const auto total = static_cast<double>(getDeviceProperties(index).total_memory);
  pools()[static_cast<size_t>(index)].fraction = fraction;
  blocks.set_limit(fraction == 1 ? INT64_MAX : static_cast<int64_t>(fraction * total));
}
double get_per_process_memory_fraction(int device) {
  constexpr const char* kName = "get_per_process_memory_fraction";
  pool(kName, device);
  return pools()[static_cast<size_t>(checked_device(kName, device))].fraction;
}

void empty_cache() {
  for (DevicePool& each : pools()) each.blocks.release_cached();
}

bool is_allocated(const StoragePtr& storage) {
  return dynamic_cast<const CudaStorage*>(storage.get()) != nullptr;
}

void record_stream(const StoragePtr& storage, const Stream& stream) {
  const auto* memory = dynamic_cast<const CudaStorage*>(storage.get());
  check<TypeError>(memory,
                   "record_stream: the storage is not memory of the CUDA allocator; expected "
                   "that of a CUDA tensor");
  Block* const block = memory->block();
  if (block && block->stream != stream)  // which a block in use keeps
    pool("record_stream", block->stream.device_index()).record_stream(block, stream);
}

}  // namespace gradus::cuda
