// Streams: queues of work on a device. Operations go to the current stream of their device, which
// belongs to the thread and is the device's default stream until set.
#pragma once

#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/base/device.h"

struct CUstream_st;  // CUDA's; a cudaStream_t points to it

namespace gradus::cuda {

class Event;

// A handle; copies name the same stream. Streams live until the program ends.
class Stream {
 public:
  Stream(int device, void* handle) : device_(device), handle_(handle) {}

  Device device() const { return Device(kCUDA, device_index()); }
  DeviceIndex device_index() const { return static_cast<DeviceIndex>(device_); }
  // The cudaStream_t; null is the default stream.
  void* handle() const { return handle_; }
  CUstream_st* stream() const { return static_cast<CUstream_st*>(handle_); }
  operator CUstream_st*() const { return stream(); }  // NOLINT: implicit, as in libtorch

  // Waits for all work queued so far.
  // Errors: Error where a kernel failed, IndexError where one met an index out of range.
  void synchronize() const;
  // Whether all work queued so far is done. Does not wait.
  bool query() const;
  // Work queued from now on waits for the event; the host does not.
  void wait(const Event& event) const;

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  int device_;
  void* handle_;
};
using CUDAStream = Stream;

// -1: of the current device. Errors: ValueError where there is no such device.
Stream getCurrentCUDAStream(int device = -1);
Stream getDefaultCUDAStream(int device = -1);
// One of 32 streams a device and priority, in turn; they run beside the default stream.
Stream getStreamFromPool(bool high_priority = false, int device = -1);
// Makes `stream` current on its device; the current device stays.
void setCurrentCUDAStream(Stream stream);

// Makes the stream and its device current until the end of the scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  Stream original_stream() const { return previous_; }
  Stream current_stream() const { return getCurrentCUDAStream(); }

 private:
  DeviceGuard device_;
  Stream previous_;
};
using CUDAStreamGuard = StreamGuard;

}  // namespace gradus::cuda
