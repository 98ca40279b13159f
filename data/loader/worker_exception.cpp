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

WorkerException::WorkerException(std::exception_ptr original, std::optional<size_t> failed_sample,
                                 std::vector<size_t> failed_batch)
    : message(message_of(original)),
      original_exception(std::move(original)),
      sample(failed_sample),
      batch(std::move(failed_batch)) {}

void WorkerException::name_sample() {
  std::string name;
  if (sample) {
    name = "; sample " + std::to_string(*sample) + " of the data set";
  } else if (!batch.empty()) {
    constexpr size_t kMost = 8;
    name = "; in the batch of the samples ";
    for (size_t i = 0; i < batch.size() && i < kMost; ++i)
      name += (i > 0 ? ", " : "") + std::to_string(batch[i]);
    if (batch.size() > kMost) name += ", ...";
  }
  if (message.find(name) == std::string::npos) message += name;
}

}  // namespace gradus::data
