// Streams and events. Work is done when it is queued, unless the stream is captured.
#include "gradus/cuda/sim/runtime/streams.h"

#include <atomic>
#include <mutex>
#include <set>
#include <type_traits>

namespace gradus::cuda::sim {

namespace {

// The handles that were made and are not destroyed yet.
template <class T>
class Handles {
 public:
  T* make(const T& value) {
    const std::lock_guard lock(mutex_);
    return *all_.insert(new T(value)).first;
  }
  bool contains(T* handle) const {
    const std::lock_guard lock(mutex_);
    return all_.contains(handle);
  }
  cudaError_t destroy(T* handle) {
    const std::lock_guard lock(mutex_);
    if (all_.erase(handle) == 0) return cudaErrorInvalidResourceHandle;
    delete handle;
    return cudaSuccess;
  }

 private:
  mutable std::mutex mutex_;
  std::set<T*> all_;
};
Handles<CUstream_st>& streams() {
  static auto& all = *new Handles<CUstream_st>;
  return all;
}
Handles<CUevent_st>& events() {
  static auto& all = *new Handles<CUevent_st>;
  return all;
}

template <class T>
cudaError_t make(Handles<T>& handles, T** out, const std::type_identity_t<T>& value) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!out) return result(cudaErrorInvalidValue);
  *out = handles.make(value);
  return result(cudaSuccess);
}

// The device of the stream, or of the default stream of the current device.
int device_of(cudaStream_t stream) { return stream ? stream->device : current_zone(); }

// Checks that a wait for the event, or a look at it, is possible.
cudaError_t check_event(cudaEvent_t event) {
  if (const cudaError_t broken = pending_error()) return broken;
  if (!events().contains(event)) return cudaErrorInvalidResourceHandle;
  return event->mark.capture ? cudaErrorCapturedEvent : refuse_in_capture();
}

// The answer to a query about queued work.
cudaError_t state_of(const Past& past) {
  if (!has_ended(past)) return cudaErrorNotReady;
  return pending_error();
}

}  // namespace

bool is_stream(cudaStream_t stream) { return !stream || streams().contains(stream); }
bool is_stream_here(cudaStream_t stream) {
  return is_stream(stream) && device_of(stream) == current_zone();
}

}  // namespace gradus::cuda::sim

using namespace gradus::cuda::sim;

// --- Streams
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  static std::atomic<unsigned> made{0};
  return make(streams(), stream, {current_zone(), (flags & cudaStreamNonBlocking) == 0, ++made});
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream && is_stream(stream)) forget(stream), forget_line(stream);
  return result(streams().destroy(stream));
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t refused = refuse_of_captured(stream)) return result(refused);
  if (!queues_work()) return result(cudaSuccess);
  finish(end_of(device_of(stream), stream));
  return result(pending_error());
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (!queues_work()) return cudaStreamSynchronize(stream);
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t refused = refuse_of_captured(stream)) return result(refused);
  return result(state_of(end_of(device_of(stream), stream)));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!events().contains(event) || !is_stream(stream))
    return result(cudaErrorInvalidResourceHandle);
  if (const auto status = record_wait(stream, event->mark, event->recorded)) return result(*status);
  if (queues_work()) come_after(stream, event->past);
  return result(cudaSuccess);
}

// --- Events
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return make(events(), event, {current_zone(), (flags & cudaEventDisableTiming) == 0});
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return result(events().destroy(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  if (!events().contains(event) || !is_stream(stream) || event->device != device_of(stream))
    return result(cudaErrorInvalidResourceHandle);
  event->mark = {};
  if (const auto status = record_event(stream, event->mark)) return result(*status);
  event->recorded = true;
  const auto when = event->when = std::make_shared<CUevent_st::Time>();
  const auto note = [when] { return *when = std::chrono::steady_clock::now(), cudaSuccess; };
  if (!queues_work()) return result(note());
  if (event->timed) enqueue_on(device_of(stream), stream, {"event"}, note);
  event->past = end_of(device_of(stream), stream);
  return result(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t status = check_event(event)) return result(status);
  if (!queues_work()) return result(cudaSuccess);
  finish(event->past);
  return result(pending_error());
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t status = check_event(event)) return result(status);
  return result(queues_work() ? state_of(event->past) : cudaSuccess);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (const cudaError_t broken = pending_error()) return result(broken);
  const auto timed = [](cudaEvent_t event) {
    return events().contains(event) && event->timed && event->recorded && !event->mark.capture;
  };
  if (!timed(start) || !timed(end) || start->device != end->device)
    return result(cudaErrorInvalidResourceHandle);
  if (!milliseconds) return result(cudaErrorInvalidValue);
  for (const cudaEvent_t each : {start, end})
    if (queues_work() && !has_ended(each->past)) return result(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(*end->when - *start->when).count();
  return result(cudaSuccess);
}
