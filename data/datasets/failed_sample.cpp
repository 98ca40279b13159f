// The sample of an exception, and how messages name it.
#include "gradus/data/datasets/failed_sample.h"

#include <algorithm>
#include <utility>

#include "gradus/tensor/base/error.h"

namespace gradus::data::detail {

namespace {

thread_local std::optional<FailedSample> failed_sample;
thread_local constinit std::optional<size_t> failed_place;

bool names(std::string_view message, std::string_view text) {
  return message.find(text) != std::string_view::npos;
}

// Throws the exception that is being handled.
template <class Named>
[[noreturn]] void rethrow_naming(const Named& named) {
  try {
    throw;
  } catch (Error& error) {
    error.add_context(context_of(error.msg(), named));
    throw;
  }
}

}  // namespace

std::string context_of(std::string_view message, const FailedSample& sample) {
  std::string out = "; sample " + std::to_string(sample.index) + " of the data set";
  if (names(message, out)) out.clear();
  if (!sample.file.empty() && !names(message, sample.file)) out += ", " + sample.file;
  return out;
}

std::string context_of(std::string_view message, ArrayRef<size_t> batch) {
  constexpr size_t kMost = 8;
  std::string out = "; in the batch of the samples ";
  for (size_t i = 0; i < std::min(batch.size(), kMost); ++i)
    out += (i > 0 ? ", " : "") + std::to_string(batch[i]);
  if (batch.size() > kMost) out += ", ...";
  return batch.empty() || names(message, out) ? "" : out;
}

void rethrow_for(FailedSample sample) {
  failed_sample = sample;
  rethrow_naming(sample);
}

void rethrow_for(ArrayRef<size_t> batch) { rethrow_naming(batch); }

std::optional<FailedSample> take_failed_sample() {
  return std::exchange(failed_sample, std::nullopt);
}

void note_failed_place(size_t place) { failed_place = place; }

std::optional<size_t> take_failed_place() { return std::exchange(failed_place, std::nullopt); }

}  // namespace gradus::data::detail
