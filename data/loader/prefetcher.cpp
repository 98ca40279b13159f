// The threads of a Prefetcher, and what passes between them and the thread that loads.
#include "gradus/data/loader/prefetcher.h"

#include <exception>
#include <optional>

#include "gradus/data/loader/data_shuttle.h"
#include "gradus/data/loader/sequencers.h"
#include "gradus/data/loader/worker_exception.h"
#include "gradus/tensor/base/counted.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/generator_scope.h"

namespace gradus::data::detail {

struct Prefetcher::Workers {
  struct Job {
    Request request;  // without a value: the worker ends
    size_t sequence_number = 0;
    uint64_t seed = 0;
  };
  struct Result {
    std::unique_ptr<Boxed> batch;
    std::exception_ptr exception;
    std::optional<FailedSample> sample;
    std::vector<size_t> indices;  // of a batch that was not made
    size_t sequence_number = 0;
  };

  void order(const FullDataLoaderOptions& options) {
    using namespace sequencers;
    if (options.enforce_ordering && options.workers > 0)
      sequencer = std::make_unique<OrderedSequencer<Result>>(options.max_jobs);
    else
      sequencer = std::make_unique<NoSequencer<Result>>();
  }

  DataShuttle<Job, Result> shuttle;
  std::unique_ptr<sequencers::Sequencer<Result>> sequencer;
  std::vector<gradus::detail::Thread> threads;
};

Prefetcher::Prefetcher(const DataLoaderOptions& options, Maker here)
    : options_(options), here_(std::move(here)), workers_(std::make_unique<Workers>()) {
  check(options_.workers == 0 || options_.max_jobs > 0, "DataLoader: max_jobs = 0 with ",
        counted(options_.workers, "worker"),
        ", expected at least 1; leave it out for two a worker");
  workers_->order(options_);
}
Prefetcher::~Prefetcher() = default;

void Prefetcher::join() {
  workers_->shuttle.drain();
  for (size_t i = 0; i < workers_->threads.size(); ++i) workers_->shuttle.push_job({});
  workers_->threads.clear();
}

void Prefetcher::restart() {
  workers_->shuttle.drain();
  reset();
  begin_at(default_generator(kCPU).template get<GeneratorImpl>()->random64());
}

void Prefetcher::start(std::vector<Maker> makers) {
  for (Maker& make : makers)
    workers_->threads.emplace_back("DataLoader: a worker",
                                   [this, make = std::move(make)] { work(make); });
}

void Prefetcher::check_is_idle() const {
  check<Error>(workers_->shuttle.in_flight_jobs() == 0,
               "Attempted to get a new DataLoader iterator while another iterator is not yet "
               "exhausted; go to its end first");
}

void Prefetcher::begin_at(uint64_t seed) {
  workers_->shuttle.drain();
  seed_ = seed;
  sequence_number_ = 0;
  workers_->order(options_);
  ask_for(options_.max_jobs);
}

void Prefetcher::ask_for(size_t batches) {
  if (workers_->threads.empty()) return;
  for (; batches > 0; --batches) {
    Request request = next_request();
    if (!request.value) return;
    workers_->shuttle.push_job({std::move(request), sequence_number_, seed_ + sequence_number_});
    ++sequence_number_;
  }
}

std::unique_ptr<Boxed> Prefetcher::next_box() {
  if (options_.workers == 0) {
    const Request request = next_request();
    if (!request.value) return nullptr;
    const GeneratorScope numbers(seed_ + sequence_number_++);
    return here_(*request.value);
  }
  auto& shuttle = workers_->shuttle;
  while (auto result =
             workers_->sequencer->next([&] { return shuttle.pop_result(options_.timeout); })) {
    if (result->exception) {
      shuttle.drain();
      throw WorkerException(result->exception, std::move(result->sample),
                            std::move(result->indices), result->sequence_number);
    }
    if (!result->batch) continue;  // a stateful data set has ended
    ask_for(1);
    return std::move(result->batch);
  }
  shuttle.drain();
  return nullptr;
}

// A worker's loops run on its own thread alone, as there are several workers.
void Prefetcher::work(const Maker& make) {
  set_num_threads(1);
  while (true) {
    Workers::Job job = workers_->shuttle.pop_job();
    if (!job.request.value) return;
    Workers::Result result;
    result.sequence_number = job.sequence_number;
    take_failed_sample();
    try {
      const GeneratorScope numbers(job.seed);
      result.batch = make(*job.request.value);
    } catch (...) {
      result.exception = std::current_exception();
      result.sample = take_failed_sample();
      if (job.request.indices) result.indices = *job.request.indices;
    }
    workers_->shuttle.push_result(std::move(result));
  }
}

}  // namespace gradus::data::detail
