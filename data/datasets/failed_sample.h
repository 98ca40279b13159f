// The sample that an exception is about, for messages of data sets and loaders.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gradus/tensor/shape.h"

namespace gradus::data::detail {

struct FailedSample {
  size_t index;
  std::string file;  // empty: not known
};

// The file of a sample, where the data set has path(index).
template <class Dataset>
std::string file_of(Dataset& dataset, size_t index) {
  if constexpr (requires {
                  { dataset.path(index) } -> std::convertible_to<std::string>;
                })
    return dataset.path(index);
  else
    return {};
}

// The text that a message lacks: "; sample 7 of the data set, cat/7.png", or the samples of the
// batch.
std::string context_of(std::string_view message, const FailedSample& sample);
std::string context_of(std::string_view message, ArrayRef<size_t> batch);

// REQUIRES: an exception is being handled. Throws it again: an Error names the sample, or those of
// the batch.
[[noreturn]] void rethrow_for(FailedSample sample);
[[noreturn]] void rethrow_for(ArrayRef<size_t> batch);
// The sample of the last exception that this thread threw again by rethrow_for(FailedSample).
std::optional<FailedSample> take_failed_sample();

// Where in its batch the example stands for which a transform threw; nothing unless one did.
void note_failed_place(size_t place);
std::optional<size_t> take_failed_place();

}  // namespace gradus::data::detail
