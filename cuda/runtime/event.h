// Events: marks in a stream that other streams and the host can wait for.
#pragma once

#include "gradus/cuda/runtime/stream.h"

namespace gradus::cuda {

// Belongs to the device of the first stream that it is recorded on.
class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  bool is_recorded() const { return handle_ != nullptr; }
  // The cudaEvent_t; null before the first record().
  void* handle() const { return handle_; }

  // Marks the work queued on the stream (the current one) so far; a later call moves the mark.
  // Errors: ValueError for a stream of another device than that of the first call.
  void record() { record(getCurrentCUDAStream()); }
  void record(const Stream& stream);
  // Work queued on the stream from now on waits for the mark; the host does not. Nothing happens
  // before the first record(), here and in synchronize().
  void block(const Stream& stream) const;
  // The host waits for the mark. Errors: as for Stream::synchronize.
  void synchronize() const;
  // Whether the mark has been reached, or was never set. Does not wait.
  bool query() const;
  // Milliseconds from this mark to the later one.
  // Errors: ValueError unless both were made with enable_timing and recorded; Error where the
  // device has not reached them yet.
  float elapsed_time(const Event& end) const;

 private:
  [[maybe_unused]] bool timing_;  // unused in a build without CUDA
  [[maybe_unused]] int device_ = -1;
  void* handle_ = nullptr;
};
using CUDAEvent = Event;

}  // namespace gradus::cuda
