// DataShuttle: carries jobs to workers and their results back.
#pragma once

#include "gradus/data/loader/queue.h"

namespace gradus::data::detail {

// Workers call pop_job and push_result; the other functions belong to the thread that loads.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_jobs_;
  }
  Job pop_job() { return jobs_.pop(); }
  void push_result(Result result) { results_.push(std::move(result)); }

  // Waits for a result; nothing where there is no job that would bring one. Errors: as Queue::pop.
  std::optional<Result> pop_result(
      std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_jobs_ == 0) return std::nullopt;
    Result result = results_.pop(timeout);
    --in_flight_jobs_;
    return result;
  }

  // Drops jobs that no worker has begun, and waits for the others.
  void drain() {
    in_flight_jobs_ -= jobs_.clear();
    while (in_flight_jobs_ > 0) pop_result();
  }

  size_t in_flight_jobs() const noexcept { return in_flight_jobs_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_jobs_ = 0;
};

}  // namespace gradus::data::detail
