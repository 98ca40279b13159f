#include "gradus/distributed/process_group.h"

#include "gradus/cuda/stream.h"
#include "gradus/tensor/threads.h"

namespace gradus::distributed {

ProcessGroup::ProcessGroup(Members members) : members_(std::move(members)) {
  if (rank() < 0) return;
  watch().open(name(), ranks());
  thread_ = std::thread([this] { run_jobs(); });
}

ProcessGroup::~ProcessGroup() { join(); }

void ProcessGroup::join() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

WorkPtr ProcessGroup::queue(bool watched, std::string what, Tensors tensors,
                            std::function<void()> f) {
  check_failure();
  Job job;
  job.what = std::move(what);
  job.tensors = std::move(tensors);
  job.f = std::move(f);
  for (const Tensor& x : job.tensors)
    if (x.is_cuda()) job.cuda = x.device();
  if (job.cuda) {
    const cuda::DeviceGuard guard(job.cuda->index());
    job.inputs_ready.record();
  }
  const std::shared_ptr<QueuedWork> work = job.work;
  const std::lock_guard lock(mutex_);
  if (watched) {
    job.sequence = ++sequence_;
    watch().start(name(), job.sequence, job.what);
  }
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return work;
}

void ProcessGroup::run_jobs() {
  set_num_threads(1);  // the ranks share the cores with one another and with what they compute
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    run(job);
  }
}

void ProcessGroup::run(Job& job) {
  std::exception_ptr error;
  try {
    check_failure();
    if (job.cuda) {
      run_on_gpu(job);
    } else {
      job.f();
    }
    if (job.sequence > 0) watch().finish(name(), job.sequence);
  } catch (const DistributedError&) {
    error = std::current_exception();
  } catch (const std::exception& e) {
    error = std::current_exception();
    watch().give_up("failed in operation " + std::to_string(job.sequence) + " of group '" + name() +
                    "', " + job.what + ": " + e.what());
  }
  job.f = nullptr;  // what it holds ends before anyone is told
  job.tensors.clear();
  job.work->set_completed(std::move(error));
}

// The caller may go on as soon as all is queued; this thread stays until it is done, so that the
// tensors live, and the watch hears of the end and not of the beginning.
void ProcessGroup::run_on_gpu(Job& job) {
  const int device = job.cuda->index();
  const cuda::StreamGuard guard(stream(device));
  stream(device).wait(job.inputs_ready);
  job.f();
  cuda::Event done, ready;
  done.record();
  ready.record();
  job.work->set_ready(std::move(ready), device);
  const Clock::time_point deadline = Clock::now() + watch().timeout();
  while (!done.query()) {
    check_failure();
    if (job.sequence == 0 && Clock::now() > deadline)
      watch().give_up("waited " + in_seconds(watch().timeout()) + " in " + job.what +
                      " of group '" + name() + "', which nobody answered");
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

const cuda::Stream& ProcessGroup::stream(int device) {
  const auto at = streams_.find(device);
  if (at != streams_.end()) return at->second;
  return streams_.emplace(device, cuda::getStreamFromPool(/*high_priority=*/true, device))
      .first->second;
}

}  // namespace gradus::distributed
