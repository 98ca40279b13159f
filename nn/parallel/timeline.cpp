// Marks of time on each device, and their differences.
#include "gradus/nn/parallel/timeline.h"

namespace gradus::nn::parallel {

std::optional<cuda::Stream> compute_stream(Device device) {
  if (device.is_cpu()) return std::nullopt;
  return cuda::getCurrentCUDAStream(device.index());
}

Timeline::Timeline(const std::vector<Device>& devices) {
  for (const Device device : devices)
    if (device.is_cuda()) cuda::synchronize(device.index());
  start_ = std::chrono::steady_clock::now();
  for (const Device device : devices) {
    if (!device.is_cuda() || starts_.contains(device.index())) continue;
    starts_.emplace(device.index(), cuda::Event(/*enable_timing=*/true))
        .first->second.record(cuda::getCurrentCUDAStream(device.index()));
  }
}

Timeline::Mark Timeline::mark(const std::optional<cuda::Stream>& stream) const {
  if (!stream)
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(),
            nullptr, -1};
  auto event = std::make_shared<cuda::Event>(/*enable_timing=*/true);
  event->record(*stream);
  return {0, std::move(event), stream->device_index()};
}

void Timeline::add(const char* phase, size_t replica, Mark begin, Mark end) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({phase, replica, std::move(begin), std::move(end)});
}

double Timeline::seconds(const Mark& mark) const {
  if (!mark.event) return mark.seconds;
  return static_cast<double>(starts_.at(mark.device).elapsed_time(*mark.event)) / 1000;
}

std::vector<TimelineSpan> Timeline::spans() const {
  for (const auto& [device, event] : starts_) cuda::synchronize(device);
  const std::lock_guard lock(mutex_);
  std::vector<TimelineSpan> out;
  for (const Entry& entry : entries_)
    out.push_back({entry.phase, entry.replica, seconds(entry.begin), seconds(entry.end)});
  return out;
}

}  // namespace gradus::nn::parallel
