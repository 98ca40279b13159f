// DataLoaderOptions: how a loader makes batches, under libtorch's names and three of Python's.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "gradus/tensor/base/device.h"
#include "gradus/tensor/base/option.h"

namespace gradus::data {

// DataLoaderOptions(64).workers(4)
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}  // NOLINT

  // The number of examples of a batch.
  GRADUS_OPTION(DataLoaderOptions, size_t, batch_size) = 1;
  // Threads that make batches ahead; 0: the thread that asks for a batch makes it.
  GRADUS_OPTION(DataLoaderOptions, size_t, workers) = 0;
  // Batches that are made ahead at most (default: two for each worker).
  GRADUS_OPTION(DataLoaderOptions, std::optional<size_t>, max_jobs);
  // How long to wait for a worker (default: forever).
  GRADUS_OPTION(DataLoaderOptions, std::optional<std::chrono::milliseconds>, timeout);
  // Whether batches come in the order of the sampler, whichever worker is done first.
  GRADUS_OPTION(DataLoaderOptions, bool, enforce_ordering) = true;
  // Whether a last batch with fewer examples is left out. A data set without indices counts them
  // before it is mapped.
  GRADUS_OPTION(DataLoaderOptions, bool, drop_last) = false;

  // Each epoch draws an order of its own. DataLoader alone reads this option.
  GRADUS_OPTION(DataLoaderOptions, bool, shuffle) = false;
  // Batches lie in page-locked memory. Copies from there to a GPU run beside the program. `device`
  // of a GPU implies it. DataLoader alone reads this option.
  GRADUS_OPTION(DataLoaderOptions, bool, pin_memory) = false;
  // Copies batches there, the next one while this one is used. DataLoader alone reads this option.
  GRADUS_OPTION(DataLoaderOptions, std::optional<Device>, device);
};

// The same with every default filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}

  size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

}  // namespace gradus::data
