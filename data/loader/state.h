// Where a loader stands: numbers in an archive. Defined in serialize/loader_state.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

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
void write_state(serialize::OutputArchive& archive, const LoaderState& state);
// Errors: ValueError for what write_state does not write.
LoaderState read_state(serialize::InputArchive& archive);

}  // namespace gradus::data::detail
