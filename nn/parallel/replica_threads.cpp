// The replicas' threads, their work and its errors.
#include "gradus/nn/parallel/replica_threads.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "gradus/autograd/engine/autocast.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/tensor/base/threads.h"

namespace gradus::nn::parallel {

struct ReplicaThreads::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> job;  // empty: none is due
  bool busy = false, ends = false;
  std::exception_ptr error;
  std::thread thread{[this] { work(); }};

  ~Worker() {
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    changed.notify_all();
    thread.join();
  }

  void start(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex);
      job = std::move(task);
      busy = true;
      error = nullptr;
    }
    changed.notify_all();
  }

  std::exception_ptr wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !busy; });
    return std::move(error);
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ends || job; });
      if (ends) return;
      std::function<void()> task = std::move(job);
      job = nullptr;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        task();
      } catch (...) {
        thrown = std::current_exception();
      }
      task = nullptr;  // what it holds goes before the caller goes on
      lock.lock();
      error = std::move(thrown);
      busy = false;
      changed.notify_all();
    }
  }
};

namespace {

std::string place(size_t replica, Device device) {
  return "replica " + std::to_string(replica) + " on " + device.str();
}

[[noreturn]] void rethrow(const std::exception_ptr& error, size_t replica, Device device) {
  try {
    std::rethrow_exception(error);
  } catch (Error& known) {
    known.add_context(" (in " + place(replica, device) + ")");
    throw;
  } catch (const std::exception& other) {
    std::throw_with_nested(
        Error(std::string(other.what()) + " (in " + place(replica, device) + ")"));
  } catch (...) {
    std::throw_with_nested(
        Error("an exception of an unknown type (in " + place(replica, device) + ")"));
  }
}

}  // namespace

ReplicaThreads::ReplicaThreads(std::vector<Device> devices) : devices_(std::move(devices)) {
  for (size_t i = 0; i < devices_.size(); ++i) workers_.push_back(std::make_unique<Worker>());
}

ReplicaThreads::~ReplicaThreads() = default;

void ReplicaThreads::run(size_t count, const std::function<void(size_t)>& f) {
  const auto on_cpu = std::count_if(devices_.begin(), devices_.begin() + static_cast<long>(count),
                                    [](Device d) { return d.is_cpu(); });
  const int share = std::max(1, get_num_threads() / std::max(1, static_cast<int>(on_cpu)));
  const std::function<void()> here = cuda_thread_state();
  for (size_t i = 0; i < count; ++i)
    workers_[i]->start([&, i, modes = thread_modes] {
      thread_modes = modes;
      const autocast::Scope scope;  // its end clears what this thread has converted
      here();
      if (devices_[i].is_cuda()) cuda::set_device(devices_[i].index());
      set_num_threads(share);
      f(i);
    });
  std::vector<std::exception_ptr> errors;
  for (size_t i = 0; i < count; ++i) errors.push_back(workers_[i]->wait());
  for (size_t i = 0; i < count; ++i)
    if (errors[i]) rethrow(errors[i], i, devices_[i]);
}

}  // namespace gradus::nn::parallel
