// A communication under way.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "gradus/cuda/event.h"

namespace gradus::distributed {

class Work {
 public:
  virtual ~Work() = default;
  // Waits until the tensors may be used again: on the CPU until their values are there; on a GPU
  // work queued later on the current stream comes after them, and the host does not wait.
  // Returns true. Errors: those of the communication, DistributedError among them.
  virtual bool wait() = 0;
  // Whether it has ended, well or not. Does not wait.
  virtual bool is_completed() = 0;
  // What it ended with; null where it ended well or has not ended.
  virtual std::exception_ptr exception() = 0;
  // Of a receipt that has ended: the rank that sent.
  virtual int source_rank() const { return -1; }
};
using WorkPtr = std::shared_ptr<Work>;

// What a thread of the group runs.
class QueuedWork final : public Work {
 public:
  bool wait() override;
  bool is_completed() override;
  std::exception_ptr exception() override;

  // The values are there, or, where `done` was recorded, will be at that mark of a stream of the
  // CUDA device.
  void set_ready(cuda::Event done, int device);
  void set_completed(std::exception_ptr error);

 private:
  [[noreturn]] void rethrow() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false, completed_ = false;
  cuda::Event done_;
  int device_ = -1;
  std::exception_ptr error_;
};

// What is over when it starts.
class FinishedWork final : public Work {
 public:
  bool wait() override { return true; }
  bool is_completed() override { return true; }
  std::exception_ptr exception() override { return nullptr; }
};

}  // namespace gradus::distributed
