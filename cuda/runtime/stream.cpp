// Streams over cudaStream_t.
#include "gradus/cuda/runtime/stream.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <mutex>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/nonfinite.h"
#include "gradus/tensor/backend.h"

namespace gradus::cuda {

namespace {

// The current streams by device; null is the default stream.
thread_local std::array<void*, kMaxDevices> current_handles{};

constexpr unsigned kPoolSize = 32;

// The streams of one device and priority, each made at its first use.
class Pool {
 public:
  void* next(int device, bool high_priority) {
    Entry& entry = entries_[next_.fetch_add(1, std::memory_order_relaxed) % kPoolSize];
    std::call_once(entry.once, [&] { entry.handle = create(device, high_priority); });
    return entry.handle;
  }

 private:
  struct Entry {
    std::once_flag once;
    cudaStream_t handle = nullptr;
  };

  static cudaStream_t create(int device, bool high_priority) {
    const DeviceGuard guard(device);
    int lowest = 0, highest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "getStreamFromPool");
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                            high_priority ? highest : lowest),
               "getStreamFromPool");
    return stream;
  }

  std::atomic<unsigned> next_{0};
  std::array<Entry, kPoolSize> entries_;
};

cudaStream_t native(const Stream& stream) { return static_cast<cudaStream_t>(stream.handle()); }

}  // namespace

void Stream::synchronize() const {
  const DeviceGuard guard(device_);
  flush_nonfinite(device_);
  after_wait(cudaStreamSynchronize(native(*this)), device_, "Stream::synchronize");
}

bool Stream::query() const {
  const DeviceGuard guard(device_);
  const cudaError_t status = cudaStreamQuery(native(*this));
  if (status == cudaErrorNotReady) return cudaGetLastError(), false;
  check_cuda(status, "Stream::query");
  return true;
}

void Stream::wait(const Event& event) const { event.block(*this); }

Stream getCurrentCUDAStream(int device) {
  const int index = checked_device("getCurrentCUDAStream", device);
  return {index, current_handles[static_cast<size_t>(index)]};
}

Stream getDefaultCUDAStream(int device) {
  return {checked_device("getDefaultCUDAStream", device), nullptr};
}

Stream getStreamFromPool(bool high_priority, int device) {
  check<Error>(is_available(), "getStreamFromPool: ", why_unavailable());
  static auto* const pools = new std::array<std::array<Pool, 2>, kMaxDevices>;
  const int index = checked_device("getStreamFromPool", device);
  return {index, (*pools)[static_cast<size_t>(index)][high_priority].next(index, high_priority)};
}

void setCurrentCUDAStream(Stream stream) {
  const int index = checked_device("setCurrentCUDAStream", stream.device_index());
  current_handles[static_cast<size_t>(index)] = stream.handle();
}

StreamGuard::StreamGuard(Stream stream)
    : device_(stream.device_index()), previous_(getCurrentCUDAStream()) {
  setCurrentCUDAStream(stream);
}

StreamGuard::~StreamGuard() {
  current_handles[static_cast<size_t>(previous_.device_index())] = previous_.handle();
}

}  // namespace gradus::cuda

std::function<void()> gradus::cuda_thread_state() {
  if (!cuda::is_available()) return [] {};
  return [device = cuda::current_device(), handles = cuda::current_handles] {
    cuda::current_handles = handles;
    cuda::set_device(device);
  };
}
