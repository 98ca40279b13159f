// Timeline: when each phase of a step ran on each replica.
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

// Marks on a GPU are events on a stream, which cost almost nothing; on the CPU they are times of
// the steady clock. Several threads may call its functions.
class Timeline {
 public:
  // Waits for the devices, so that the times of all count from the same moment.
  explicit Timeline(const std::vector<Device>& devices);

  struct Mark {
    double seconds = 0;  // where there is no event
    std::shared_ptr<cuda::Event> event;
    int device = -1;
  };
  // A mark on the stream; without one, the host's time.
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

// Adds the time of its life to the timeline; does nothing where that is null.
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
