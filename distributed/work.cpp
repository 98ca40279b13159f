// Waiting for a communication, and its errors.
#include "gradus/distributed/work.h"

#include "gradus/cuda/runtime/stream.h"
#include "gradus/distributed/job/error.h"

namespace gradus::distributed {

QueuedWork::QueuedWork(Tensors tensors) : tensors_(std::move(tensors)) {
  for (const Tensor& x : tensors_)
    if (x.is_cuda()) stream_ = cuda::getCurrentCUDAStream(x.device().index());
}

bool QueuedWork::wait() {
  check_here(home_.is_here(), "Work::wait");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_; });
  if (error_) rethrow();
  if (!done_.is_recorded()) return true;
  const cuda::Stream current = cuda::getCurrentCUDAStream(stream_->device_index());
  done_.block(current);
  if (current == *stream_) tensors_.clear();
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

void QueuedWork::set_ready() {
  const std::lock_guard lock(mutex_);
  done_.record(cuda::getCurrentCUDAStream(stream_->device_index()));
  ready_ = true;
  changed_.notify_all();
}

bool QueuedWork::is_reached() {
  const std::lock_guard lock(mutex_);
  return !done_.is_recorded() || done_.query();
}

void QueuedWork::set_completed(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  tensors_.clear();  // before anyone is told
  error_ = std::move(error);
  ready_ = completed_ = true;
  changed_.notify_all();
}

bool AskedWork::wait() {
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; !is_completed(); ++round) {
    try {
      stay(began, round);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      ended_ = true;
    }
  }
  if (error_) std::rethrow_exception(error_);
  return true;
}

bool AskedWork::is_completed() {
  const std::lock_guard lock(mutex_);
  if (ended_) return true;
  try {
    ended_ = ask();
  } catch (...) {
    error_ = std::current_exception();
    ended_ = true;
  }
  return ended_;
}

std::exception_ptr AskedWork::exception() {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace gradus::distributed
