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

WorkerException::WorkerException(std::exception_ptr original,
                                 std::optional<detail::FailedSample> failed_sample,
                                 std::vector<size_t> failed_batch, size_t number_of_batch)
    : Error(message_of(original)),
      message(msg()),
      original_exception(std::move(original)),
      batch(std::move(failed_batch)),
      batch_number(number_of_batch) {
  if (!failed_sample) return;
  sample = failed_sample->index;
  file = std::move(failed_sample->file);
}

void WorkerException::name_sample() {
  if (sample)
    add_context(detail::context_of(msg(), detail::FailedSample{*sample, file}));
  else if (!batch.empty())
    add_context(detail::context_of(msg(), batch));
  else
    add_context("; in batch " + std::to_string(batch_number + 1) + " of the epoch");
  message = msg();
}

}  // namespace gradus::data
