// A communication under way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/tensor.h"

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
  // Keeps the tensors until it has ended, or the stream that is current here, where they are of a
  // GPU, waits for it: what frees them from then on is in order with their use.
  explicit QueuedWork(Tensors tensors);

  bool wait() override;
  bool is_completed() override;
  std::exception_ptr exception() override;

  // The CUDA device of the tensors; none: the CPU.
  const std::optional<cuda::Stream>& stream() const { return stream_; }
  // The values will be there at the mark that is set here on the current stream of that device.
  void set_ready();
  // Whether that mark has been reached, or there is none.
  bool is_reached();
  void set_completed(std::exception_ptr error);

 private:
  [[noreturn]] void rethrow() const;

  std::optional<cuda::Stream> stream_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool ready_ = false, completed_ = false;
  cuda::Event done_;
  Tensors tensors_;
  std::exception_ptr error_;
};

// A message, which progresses when somebody asks.
class AskedWork : public Work {
 public:
  bool wait() override;
  bool is_completed() override;
  std::exception_ptr exception() override;
  int source_rank() const override { return source_; }

 protected:
  // Whether it has ended; of a receipt that has, source_ is set. Errors: what it ends with.
  virtual bool ask() = 0;
  // Waits a little for what asking may tell, the round-th time since `began`. Errors: likewise.
  virtual void stay(std::chrono::steady_clock::time_point began, int round) = 0;

  int source_ = -1;

 private:
  std::mutex mutex_;  // guards what follows, and calls of ask()
  bool ended_ = false;
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
