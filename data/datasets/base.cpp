// The error of an example that could not be read.
#include "gradus/data/datasets/base.h"

namespace gradus::data::detail {

namespace {
thread_local constinit std::optional<size_t> failed_sample;
}

void note_failed_sample(size_t index) { failed_sample = index; }

std::optional<size_t> take_failed_sample() { return std::exchange(failed_sample, std::nullopt); }

}  // namespace gradus::data::detail
