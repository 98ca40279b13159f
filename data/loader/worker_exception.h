// WorkerException: what a loader throws where one of its workers has failed.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace gradus::data {

struct WorkerException : std::exception {
  // REQUIRES: original is not null.
  explicit WorkerException(std::exception_ptr original,
                           std::optional<size_t> failed_sample = std::nullopt,
                           std::vector<size_t> failed_batch = {});
  const char* what() const noexcept override { return message.c_str(); }
  // Adds the sample, or the batch where it is not known, to a message that lacks it. DataLoader
  // does; make_data_loader keeps libtorch's text.
  void name_sample();

  std::string message;                    // with that of the original
  std::exception_ptr original_exception;  // for std::rethrow_exception
  std::optional<size_t> sample;           // the index whose get() has thrown, where it was one's
  std::vector<size_t> batch;  // the indices of the batch that was not made, where it had some
};

}  // namespace gradus::data
