// DataLoaderBase: the common part of all loaders. A data set makes the batches, or copies of it on
// other threads do.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "gradus/data/datasets/whole_batches.h"
#include "gradus/data/loader/iterator.h"
#include "gradus/data/loader/prefetcher.h"

namespace gradus::data {

// A batch draws its random numbers with a seed that depends on the seed of the epoch and on its
// place in it alone, so that batches are the same whatever the number of workers.
//
// Members of derived classes are not used by workers.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : private detail::Prefetcher {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  // `dataset` makes the batches where there are no workers.
  // Errors: ValueError for options that belong to DataLoader.
  DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<Dataset> dataset)
      : DataLoaderBase(options, std::shared_ptr<Dataset>(std::move(dataset))) {
    check(!options.shuffle() && !options.pin_memory() && !options.device(),
          "make_data_loader: shuffle, pin_memory and device are options of data::DataLoader; use "
          "that, or a sampler and to()");
  }
  ~DataLoaderBase() override { join(); }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  // Begins an epoch. Errors: Error while workers make batches for another iterator.
  Iterator<Batch> begin() {
    check_is_idle();
    restart();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return {}; }

  // Ends the workers, and waits for those at work. Afterwards there are no more batches.
  void join() { Prefetcher::join(); }

  const FullDataLoaderOptions& options() const noexcept { return Prefetcher::options(); }

  // Begins an epoch, even within another one.
  void restart() { Prefetcher::restart(); }

  // The next batch, or nothing at the end of the epoch.
  // Errors: WorkerException; Error after the timeout; without workers those of the data set.
  std::optional<Batch> next() {
    const auto box = next_box();
    if (!box) return std::nullopt;
    return std::move(detail::unboxed<Batch>(*box));
  }

 protected:
  // Gives each worker a copy of the data set. REQUIRES: called by the constructor of the derived
  // class. Errors: ValueError for a data set that cannot be copied; ThreadError.
  void start_workers() {
    std::vector<detail::Maker> makers;
    if constexpr (std::is_copy_constructible_v<Dataset>) {
      while (makers.size() < options().workers)
        makers.push_back(
            maker(std::make_shared<Dataset>(std::as_const(*main_thread_dataset_)), options()));
    } else {
      check(options().workers == 0, "make_data_loader: workers = ", options().workers,
            " for a data set that cannot be copied; share it by make_shared_dataset");
    }
    start(std::move(makers));
  }

  // The indices of the next batch, or nothing at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  // Called at the beginning of an epoch.
  void reset() override = 0;

  using Prefetcher::begin_at, Prefetcher::seed;

  Dataset& main_thread_dataset() { return *main_thread_dataset_; }
  const Dataset& main_thread_dataset() const { return *main_thread_dataset_; }

 private:
  DataLoaderBase(const DataLoaderOptions& options, std::shared_ptr<Dataset> dataset)
      : Prefetcher(options, maker(dataset, FullDataLoaderOptions(options))),
        main_thread_dataset_(std::move(dataset)) {}

  static detail::Maker maker(std::shared_ptr<Dataset> dataset,
                             const FullDataLoaderOptions& options) {
    return [dataset = std::move(dataset), drop_last = options.drop_last](detail::Boxed& request) {
      return made(*dataset, detail::unboxed<BatchRequest>(request), drop_last);
    };
  }
  static std::unique_ptr<detail::Boxed> made(Dataset& dataset, const BatchRequest& request,
                                             [[maybe_unused]] bool drop_last) {
    if constexpr (Dataset::is_stateful) {
      auto batch = detail::next_batch(dataset, request, drop_last);
      return batch ? std::make_unique<detail::Box<Batch>>(std::move(*batch)) : nullptr;
    } else {
      return std::make_unique<detail::Box<Batch>>(dataset.get_batch(request));
    }
  }
  detail::Request next_request() final {
    std::optional<BatchRequest> request = get_batch_request();
    if (!request) return {};
    auto box = std::make_unique<detail::Box<BatchRequest>>(std::move(*request));
    const std::vector<size_t>* indices = nullptr;
    if constexpr (std::is_same_v<BatchRequest, std::vector<size_t>>) indices = &box->value;
    return {std::move(box), indices};
  }

  std::shared_ptr<Dataset> main_thread_dataset_;
};

}  // namespace gradus::data
