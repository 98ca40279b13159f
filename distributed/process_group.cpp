// The thread of a group, its queue of calls, and what it tells the watch.
#include "gradus/distributed/process_group.h"

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/nonfinite.h"

namespace gradus::distributed {

namespace {
thread_local const std::string* served_name = nullptr;
}  // namespace

ProcessGroup::ProcessGroup(Members members) : members_(std::move(members)) {
  if (rank() < 0) return;
  watch().open(name(), ranks());
  thread_ = detail::Thread("process group '" + name() + "'", [this] { run_jobs(); });
}

ProcessGroup::~ProcessGroup() { join(); }

const std::string* ProcessGroup::served_here() { return served_name; }

void ProcessGroup::join() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

WorkPtr ProcessGroup::queue(bool watched, std::string what, Tensors tensors,
                            std::function<void()> f) {
  check_here(is_here(), what);
  check_failure();
  for (const Tensor& x : tensors) cuda_flush_nonfinite(x.device());  // which may be overwritten
  Job job;
  job.what = std::move(what);
  job.f = std::move(f);
  job.work = std::make_shared<QueuedWork>(std::move(tensors));
  if (job.work->stream()) job.inputs_ready.record(*job.work->stream());
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
  served_name = &members_.name;
  set_num_threads(1);  // the ranks share the cores with one another and with what they compute
  constexpr auto kPeriod = std::chrono::microseconds(50);
  while (true) {
    std::unique_lock lock(mutex_);
    const auto can_start = [&] {
      return !jobs_.empty() &&
             (under_way_.empty() || (jobs_.front().work->stream() && only_queues()));
    };
    if (under_way_.empty())
      changed_.wait(lock, [&] { return ends_ || can_start(); });
    else
      changed_.wait_for(lock, kPeriod, can_start);
    if (can_start()) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      start(std::move(job));
    } else if (under_way_.empty()) {
      return;
    } else {
      lock.unlock();
    }
    look_after();
  }
}

void ProcessGroup::start(Job job) {
  try {
    check_failure();
    if (job.sequence > 0) compare(job.what);
    if (job.work->stream()) {
      run_on_gpu(job);
    } else {
      job.f();
    }
  } catch (...) {
    job.error = spread_error(job);
  }
  job.f = nullptr;  // what it holds ends before anyone is told
  job.begin = Clock::now();
  under_way_.push_back(std::move(job));
}

// The caller may go on as soon as all is queued. The watch hears of the end and not of the
// beginning.
void ProcessGroup::run_on_gpu(Job& job) {
  const cuda::Stream& own = stream(job.work->stream()->device_index());
  const cuda::StreamGuard guard(own);
  own.wait(job.inputs_ready);
  job.f();
  job.f = nullptr;
  job.work->set_ready();
}

void ProcessGroup::look_after() {
  while (!under_way_.empty() && is_over(under_way_.front())) {
    Job& job = under_way_.front();
    job.work->set_completed(std::move(job.error));
    under_way_.pop_front();
    if (!under_way_.empty()) under_way_.front().begin = Clock::now();
  }
}

bool ProcessGroup::is_over(Job& job) {
  if (job.error) return true;
  try {
    if (job.work->stream()) check_failure();  // which may have cut it short
    if (is_done(*job.work)) {
      if (job.sequence > 0) watch().finish(name(), job.sequence);
      return true;
    }
    if (job.sequence == 0 && Clock::now() > job.begin + watch().timeout()) {
      job.begin = Clock::now();  // said once
      watch().give_up("waited " + in_seconds(watch().timeout()) + " in " + job.what +
                      " of group '" + name() + "', which nobody answered");
    }
    return false;
  } catch (...) {
    job.error = spread_error(job);
    return true;
  }
}

// Returns the exception that is being handled, and ends the job with it. Errors of this rank's own
// end the others' as well.
std::exception_ptr ProcessGroup::spread_error(const Job& job) const {
  try {
    throw;
  } catch (const DistributedError&) {
    return std::current_exception();
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    watch().give_up("failed in operation " + std::to_string(job.sequence) + " of group '" + name() +
                    "', " + job.what + ": " + gradus::detail::text_of(error));
    return error;
  }
}

const cuda::Stream& ProcessGroup::stream(int device) {
  const auto at = streams_.find(device);
  if (at != streams_.end()) return at->second;
  return streams_.emplace(device, cuda::getStreamFromPool(/*high_priority=*/true, device))
      .first->second;
}

}  // namespace gradus::distributed
