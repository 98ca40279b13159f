// WorkerException: what a loader throws where one of its workers has failed.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "gradus/data/datasets/failed_sample.h"
#include "gradus/tensor/base/error.h"

namespace gradus::data {

struct WorkerException : Error {
  // REQUIRES: original is not null.
  explicit WorkerException(std::exception_ptr original,
                           std::optional<detail::FailedSample> failed_sample = std::nullopt,
                           std::vector<size_t> failed_batch = {}, size_t number_of_batch = 0);
  // Adds the sample and its file to a message that lacks them; where they are not known the samples
  // of the batch, or its place in the epoch. DataLoader does; make_data_loader keeps libtorch's
  // text.
  void name_sample();

  std::string message;                    // what(), with the message of the original
  std::exception_ptr original_exception;  // for std::rethrow_exception
  std::optional<size_t> sample;  // the index whose get() or transform has thrown, where one did
  std::string file;              // of the sample, where the data set has a path(index)
  std::vector<size_t> batch;     // the indices of the batch that was not made, where it had some
  size_t batch_number;           // of the batch, from 0 at the beginning of the epoch
};

}  // namespace gradus::data
