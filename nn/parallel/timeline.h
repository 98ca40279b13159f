// When each phase of a step ran, on each replica.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gradus/cuda/runtime/event.h"
#include "gradus/nn/parallel/timeline_span.h"
#include "gradus/tensor/base/device.h"

namespace gradus::nn::parallel {

// Marks on a GPU are events on a stream, which cost it next to nothing; on the CPU they are the
// time of day. Its functions may be called by several threads.
class Timeline {
 public:
  // Waits for the devices, so that all count from the same moment.
  explicit Timeline(const std::vector<Device>& devices);

  struct Mark {
    double seconds = 0;  // where there is no event
    std::shared_ptr<cuda::Event> event;
    int device = -1;
  };
  // On the stream, or of the host.
  Mark mark(const std::optional<cuda::Stream>& stream) const;
  void add(const char* phase, size_t replica, Mark begin, Mark end);
  // Waits for the devices.
  std::vector<TimelineSpan> spans() const;

 private:
  struct Entry {
    const char* phase;
    size_t replica;
    Mark begin, end;
  };
  double seconds(const Mark& mark) const;

  std::chrono::steady_clock::time_point start_;
  std::map<int, cuda::Event> starts_;  // by GPU
  mutable std::mutex mutex_;           // guards entries_
  std::vector<Entry> entries_;
};

// Adds what runs while it lives; nothing where there is no timeline.
class TimelineScope {
 public:
  TimelineScope(Timeline* timeline, const char* phase, size_t replica,
                std::optional<cuda::Stream> stream)
      : timeline_(timeline), phase_(phase), replica_(replica), stream_(stream) {
    if (timeline_) begin_ = timeline_->mark(stream_);
  }
  ~TimelineScope() {
    if (timeline_) timeline_->add(phase_, replica_, std::move(begin_), timeline_->mark(stream_));
  }
  TimelineScope(const TimelineScope&) = delete;
  TimelineScope& operator=(const TimelineScope&) = delete;

 private:
  Timeline* timeline_;
  const char* phase_;
  size_t replica_;
  std::optional<cuda::Stream> stream_;
  Timeline::Mark begin_;
};

// The device's current stream; none for the CPU.
std::optional<cuda::Stream> compute_stream(Device device);

}  // namespace gradus::nn::parallel
