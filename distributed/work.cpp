#include "gradus/distributed/work.h"

#include "gradus/cuda/stream.h"
#include "gradus/distributed/error.h"

namespace gradus::distributed {

bool QueuedWork::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_; });
  if (error_) rethrow();
  if (done_.is_recorded()) done_.block(cuda::getCurrentCUDAStream(device_));
  return true;
}

// The caller gets an exception of its own where it may outlive this object, whose end the group's
// thread may see to.
void QueuedWork::rethrow() const {
  try {
    std::rethrow_exception(error_);
  } catch (const DistributedError& error) {
    throw DistributedError(error.msg());
  }
}

bool QueuedWork::is_completed() {
  const std::lock_guard lock(mutex_);
  return completed_;
}

std::exception_ptr QueuedWork::exception() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void QueuedWork::set_ready(cuda::Event done, int device) {
  const std::lock_guard lock(mutex_);
  done_ = std::move(done);
  device_ = device;
  ready_ = true;
  changed_.notify_all();
}

void QueuedWork::set_completed(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  ready_ = completed_ = true;
  changed_.notify_all();
}

}  // namespace gradus::distributed
