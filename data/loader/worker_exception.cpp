// The message of a worker's exception.
#include "gradus/data/loader/worker_exception.h"

namespace gradus::data {

namespace {

std::string message_of(const std::exception_ptr& original) {
  const std::string text = "Caught exception in DataLoader worker thread.";
  try {
    std::rethrow_exception(original);
  } catch (const std::exception& error) {
    return text + " Original message: " + error.what();
  } catch (...) {
    return text;
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original, std::optional<size_t> failed_sample)
    : message(message_of(original)),
      original_exception(std::move(original)),
      sample(failed_sample) {}

void WorkerException::name_sample() {
  if (!sample) return;
  const std::string name = "; sample " + std::to_string(*sample) + " of the data set";
  if (message.find(name) == std::string::npos) message += name;
}

}  // namespace gradus::data
