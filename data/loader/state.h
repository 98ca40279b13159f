// Where a loader stands: numbers in an archive. Defined in serialize/loader_state.cpp.
#pragma once

#include <cstdint>
#include <optional>

namespace gradus::serialize {
class OutputArchive;
class InputArchive;
}  // namespace gradus::serialize

namespace gradus::data::detail {

struct LoaderState {
  int64_t epochs;   // begun
  int64_t batches;  // of the epoch, handed out; -1 between two epochs
  uint64_t seed;    // of the next batch
};
// The sizes that a state counts in. The state means another place where they differ.
struct LoaderSizes {
  std::optional<size_t> examples;  // of the data set; nothing where it does not say
  size_t batch_size;
};
void write_state(serialize::OutputArchive& archive, const LoaderState& state,
                 const LoaderSizes& sizes);
// Errors: ValueError for what write_state does not write, for another number of examples, and
// within an epoch for another batch size.
LoaderState read_state(serialize::InputArchive& archive, const LoaderSizes& sizes);

}  // namespace gradus::data::detail
