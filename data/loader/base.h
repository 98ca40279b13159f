// What every loader does: asks for batches ahead, gives them to workers, and hands them out in
// order.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "gradus/data/datasets/whole_batches.h"
#include "gradus/data/loader/data_shuttle.h"
#include "gradus/data/loader/iterator.h"
#include "gradus/data/loader/options.h"
#include "gradus/data/loader/sequencers.h"
#include "gradus/data/loader/worker_exception.h"
#include "gradus/tensor/base/counted.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/generator_scope.h"

namespace gradus::data {

// A batch draws its random numbers with a seed that depends on the seed of the epoch and on its
// place in it alone, so that batches are the same whatever the number of workers. The seed of the
// epoch is drawn from the default generator.
//
// Members of derived classes are not used by workers.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  // `dataset` makes the batches where there are no workers.
  // Errors: ValueError for options that belong to DataLoader.
  DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<Dataset> dataset)
      : options_(options), main_thread_dataset_(std::move(dataset)), sequencer_(new_sequencer()) {
    check(options_.workers == 0 || options_.max_jobs > 0, "DataLoader: max_jobs = 0 with ",
          counted(options_.workers, "worker"),
          ", expected at least 1; leave it out for two a worker");
    check(!options.shuffle() && !options.pin_memory() && !options.device(),
          "make_data_loader: shuffle, pin_memory and device are options of data::DataLoader; use "
          "that, or a sampler and to()");
  }
  virtual ~DataLoaderBase() { join(); }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  // Begins an epoch. Errors: Error while workers make batches for another iterator.
  Iterator<Batch> begin() {
    check<Error>(shuttle_.in_flight_jobs() == 0,
                 "Attempted to get a new DataLoader iterator while another iterator is not yet "
                 "exhausted; go to its end first");
    restart();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return {}; }

  // Ends the workers, and waits for those at work. Afterwards there are no more batches.
  void join() {
    shuttle_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) shuttle_.push_job({});
    workers_.clear();
  }

  const FullDataLoaderOptions& options() const noexcept { return options_; }

  // Begins an epoch, even within another one.
  void restart() {
    shuttle_.drain();
    reset();
    begin_at(default_generator(kCPU).template get<GeneratorImpl>()->random64());
  }

  // The next batch, or nothing at the end of the epoch.
  // Errors: WorkerException; Error after the timeout; without workers those of the data set.
  std::optional<Batch> next() {
    if (options_.workers == 0) return make_here();
    while (auto result =
               sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); })) {
      if (result->exception) {
        shuttle_.drain();
        throw WorkerException(result->exception, std::move(result->sample),
                              std::move(result->indices), result->sequence_number);
      }
      if (!result->batch) continue;  // a stateful data set has ended
      prefetch(1);
      return std::move(result->batch);
    }
    shuttle_.drain();
    return std::nullopt;
  }

 protected:
  // Gives each worker a copy of the data set. REQUIRES: called by the constructor of the derived
  // class. Errors: ValueError for a data set that cannot be copied; ThreadError.
  void start_workers() {
    if (options_.workers == 0) return;
    if constexpr (std::is_copy_constructible_v<Dataset>) {
      for (size_t i = 0; i < options_.workers; ++i) {
        auto copy = std::make_shared<Dataset>(std::as_const(*main_thread_dataset_));
        workers_.emplace_back("DataLoader: a worker", [this, copy] { work(*copy); });
      }
    } else {
      fail("make_data_loader: workers = ", options_.workers,
           " for a data set that cannot be copied; share it by make_shared_dataset");
    }
  }

  // The indices of the next batch, or nothing at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  // Called at the beginning of an epoch.
  virtual void reset() = 0;

  // Asks for batches from here on; the first one draws its random numbers with this seed.
  void begin_at(uint64_t seed) {
    shuttle_.drain();
    seed_ = seed;
    sequence_number_ = 0;
    sequencer_ = new_sequencer();
    prefetch(options_.max_jobs);
  }
  uint64_t seed() const { return seed_; }

  Dataset& main_thread_dataset() { return *main_thread_dataset_; }
  const Dataset& main_thread_dataset() const { return *main_thread_dataset_; }

 private:
  struct Job {
    std::optional<BatchRequest> request;  // none: the worker ends
    size_t sequence_number = 0;
    uint64_t seed = 0;
  };
  struct Result {
    std::optional<Batch> batch;
    std::exception_ptr exception;
    std::optional<detail::FailedSample> sample;
    std::vector<size_t> indices;  // of a batch that was not made
    size_t sequence_number = 0;
  };

  std::unique_ptr<detail::sequencers::Sequencer<Result>> new_sequencer() const {
    using namespace detail::sequencers;
    if (options_.enforce_ordering && options_.workers > 0)
      return std::make_unique<OrderedSequencer<Result>>(options_.max_jobs);
    return std::make_unique<NoSequencer<Result>>();
  }

  void prefetch(size_t jobs) {
    if (workers_.empty()) return;
    for (; jobs > 0; --jobs) {
      auto request = get_batch_request();
      if (!request) return;
      shuttle_.push_job({std::move(request), sequence_number_, seed_ + sequence_number_});
      ++sequence_number_;
    }
  }

  std::optional<Batch> make_here() {
    auto request = get_batch_request();
    if (!request) return std::nullopt;
    const GeneratorScope numbers(seed_ + sequence_number_++);
    return batch_of(*main_thread_dataset_, std::move(*request));
  }

  std::optional<Batch> batch_of(Dataset& dataset, BatchRequest request) const {
    if constexpr (Dataset::is_stateful)
      return detail::next_batch(dataset, std::move(request), options_.drop_last);
    else
      return dataset.get_batch(std::move(request));
  }

  // A worker's loops run on its own thread alone, as there are several workers.
  void work(Dataset& dataset) {
    set_num_threads(1);
    while (true) {
      Job job = shuttle_.pop_job();
      if (!job.request) return;
      Result result;
      result.sequence_number = job.sequence_number;
      if constexpr (std::is_same_v<BatchRequest, std::vector<size_t>>)
        result.indices = *job.request;
      detail::take_failed_sample();
      try {
        const GeneratorScope numbers(job.seed);
        result.batch = batch_of(dataset, std::move(*job.request));
      } catch (...) {
        result.exception = std::current_exception();
        result.sample = detail::take_failed_sample();
      }
      shuttle_.push_result(std::move(result));
    }
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  detail::DataShuttle<Job, Result> shuttle_;
  size_t sequence_number_ = 0;
  uint64_t seed_ = 0;
  std::vector<gradus::detail::Thread> workers_;
};

}  // namespace gradus::data
