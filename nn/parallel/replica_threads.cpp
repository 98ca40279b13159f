// The replicas' threads, their work and its errors.
#include "gradus/nn/parallel/replica_threads.h"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "gradus/autograd/engine/autocast.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/base/threads.h"

namespace gradus::nn::parallel {

struct ReplicaThreads::Worker {
  static inline thread_local constinit bool runs_here = false;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::packaged_task<void()> job;  // invalid: none is due
  std::jthread thread{[this](const std::stop_token& end) {
    runs_here = true;
    std::unique_lock lock(mutex);
    while (changed.wait(lock, end, [this] { return job.valid(); })) {
      job();
      job = {};
    }
  }};

  std::future<void> start(std::packaged_task<void()> task) {
    std::future<void> done = task.get_future();
    const std::lock_guard lock(mutex);
    job = std::move(task);
    changed.notify_one();
    return done;
  }
};

bool ReplicaThreads::is_replica() { return Worker::runs_here; }

ReplicaThreads::ReplicaThreads(std::vector<Device> devices) : devices_(std::move(devices)) {
  for (size_t i = 0; i < devices_.size(); ++i) workers_.push_back(std::make_unique<Worker>());
}

ReplicaThreads::~ReplicaThreads() = default;

void ReplicaThreads::run(size_t count, const std::function<void(size_t)>& f) {
  const auto on_cpu = std::count_if(devices_.begin(), devices_.begin() + static_cast<long>(count),
                                    [](Device d) { return d.is_cpu(); });
  const int share = std::max(1, get_num_threads() / std::max(1, static_cast<int>(on_cpu)));
  const std::function<void()> here = cuda_thread_state();
  const ThreadModes modes = thread_modes;
  std::vector<std::future<void>> done;
  for (size_t i = 0; i < count; ++i)
    done.push_back(workers_[i]->start(std::packaged_task<void()>([&, i] {
      thread_modes = modes;
      const autocast::Scope scope;  // its end clears what this thread has converted
      here();
      if (devices_[i].is_cuda()) cuda::set_device(devices_[i].index());
      set_num_threads(share);
      f(i);
    })));
  for (const std::future<void>& each : done) each.wait();
  for (size_t i = 0; i < count; ++i) try {
      done[i].get();
    } catch (...) {
      rethrow_with(std::current_exception(),
                   " (in replica " + std::to_string(i) + " on " + devices_[i].str() + ")");
    }
}

}  // namespace gradus::nn::parallel
