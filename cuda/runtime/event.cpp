// Events over cudaEvent_t.
#include "gradus/cuda/runtime/event.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "gradus/cuda/runtime/check.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/nonfinite.h"

namespace gradus::cuda {

namespace {
cudaEvent_t native(const Event& event) { return static_cast<cudaEvent_t>(event.handle()); }
}  // namespace

Event::~Event() {
  // Fails only where the driver is gone already, and the event with it.
  if (handle_) cudaEventDestroy(native(*this));
}

Event::Event(Event&& other) noexcept
    : timing_(other.timing_),
      device_(other.device_),
      handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(timing_, other.timing_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

void Event::record(const Stream& stream) {
  const int device = checked_device("Event::record", stream.device_index());
  check(!handle_ || device == device_, "Event::record: the event belongs to cuda:", device_,
        ", the stream to cuda:", device, "; use one event for each device");
  const DeviceGuard guard(device);
  if (!handle_) {
    cudaEvent_t event = nullptr;
    check_cuda(
        cudaEventCreateWithFlags(&event, timing_ ? cudaEventDefault : cudaEventDisableTiming),
        "Event::record");
    handle_ = event;
    device_ = device;
  }
  check_cuda(cudaEventRecord(native(*this), static_cast<cudaStream_t>(stream.handle())),
             "Event::record");
}

void Event::block(const Stream& stream) const {
  if (!handle_) return;
  const DeviceGuard guard(stream.device_index());
  check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle()), native(*this), 0),
             "Event::block");
}

void Event::synchronize() const {
  if (!handle_) return;
  flush_nonfinite(device_);
  after_wait(cudaEventSynchronize(native(*this)), device_, "Event::synchronize");
}

bool Event::query() const {
  if (!handle_) return true;
  const cudaError_t status = cudaEventQuery(native(*this));
  if (status == cudaErrorNotReady) return cudaGetLastError(), false;
  check_cuda(status, "Event::query");
  return true;
}

float Event::elapsed_time(const Event& end) const {
  check(timing_ && end.timing_,
        "Event::elapsed_time: an event was made without timing; make both with Event(true)");
  check(handle_ && end.handle_,
        "Event::elapsed_time: an event was not recorded; call record() on both first");
  float milliseconds = 0;
  const cudaError_t status = cudaEventElapsedTime(&milliseconds, native(*this), native(end));
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    fail<Error>(
        "Event::elapsed_time: the device has not reached both events yet; call synchronize() on "
        "the later one first");
  }
  check_cuda(status, "Event::elapsed_time");
  return milliseconds;
}

}  // namespace gradus::cuda
