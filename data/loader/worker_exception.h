// WorkerException: what a loader throws where one of its workers has failed.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace gradus::data {

struct WorkerException : std::exception {
  // REQUIRES: original is not null.
  explicit WorkerException(std::exception_ptr original,
                           std::optional<size_t> failed_sample = std::nullopt);
  const char* what() const noexcept override { return message.c_str(); }
  // Adds the sample to the message, where that lacks it. DataLoader does; make_data_loader keeps
  // libtorch's text.
  void name_sample();

  std::string message;                    // with that of the original
  std::exception_ptr original_exception;  // for std::rethrow_exception
  std::optional<size_t> sample;           // the index whose get() has thrown, where it was one's
};

}  // namespace gradus::data
