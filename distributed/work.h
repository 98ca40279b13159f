// Work: a communication that has been started, and waiting for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "gradus/cuda/runtime/event.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

class Work {
 public:
  virtual ~Work() = default;
  // Waits until the tensors may be used again. The wait is for the values of tensors on the CPU.
  // The host does not wait for a GPU; later work on the current stream does. Returns true. Errors:
  // those of the communication, DistributedError among them.
  virtual bool wait() = 0;
  // Whether it has ended, successfully or not. Does not wait.
  virtual bool is_completed() = 0;
  // The exception of the call; null where it succeeded or has not ended.
  virtual std::exception_ptr exception() = 0;
  // The rank that sent, for a recv that has ended.
  virtual int source_rank() const { return -1; }
};
using WorkPtr = std::shared_ptr<Work>;

// A call that the group's thread runs.
class QueuedWork final : public Work {
 public:
  // Keeps the tensors until the call has ended. Tensors on a GPU are kept until the stream that is
  // current here waits for the call: memory freed later is reused only after its use.
  explicit QueuedWork(Tensors tensors);

  bool wait() override;
  bool is_completed() override;
  std::exception_ptr exception() override;

  // The stream that was current on the tensors' CUDA device; none on the CPU.
  const std::optional<cuda::Stream>& stream() const { return stream_; }
  // Records an event on the current stream of that device, after which the values are computed.
  void set_ready();
  // Whether that event has been reached, or was never recorded.
  bool is_reached();
  void set_completed(std::exception_ptr error);

 private:
  [[noreturn]] void rethrow() const;

  detail::HomeProcess home_;
  std::optional<cuda::Stream> stream_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool ready_ = false, completed_ = false;
  cuda::Event done_;
  Tensors tensors_;
  std::exception_ptr error_;
};

// A message that progresses only when somebody asks for it.
class AskedWork : public Work {
 public:
  bool wait() override;
  bool is_completed() override;
  std::exception_ptr exception() override;
  int source_rank() const override { return source_; }

 protected:
  // Whether it has ended; a recv that has ended sets source_. Errors: those of the message.
  virtual bool ask() = 0;
  // Waits a little before the next ask(), for the round-th time since `began`. Errors: likewise.
  virtual void stay(std::chrono::steady_clock::time_point began, int round) = 0;

  int source_ = -1;

 private:
  std::mutex mutex_;  // guards what follows, and calls of ask()
  bool ended_ = false;
  std::exception_ptr error_;
};

// A communication that ended when it was started.
class FinishedWork final : public Work {
 public:
  bool wait() override { return true; }
  bool is_completed() override { return true; }
  std::exception_ptr exception() override { return nullptr; }
};

}  // namespace gradus::distributed
