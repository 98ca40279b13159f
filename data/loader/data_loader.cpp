// The options of a DataLoader, as its base takes them.
#include "gradus/data/loader/data_loader.h"

namespace gradus::data::detail {

bool pins(const DataLoaderOptions& options) {
  return options.pin_memory() || (options.device() && options.device()->is_cuda());
}

DataLoaderOptions loader_options(const DataLoaderOptions& options, bool has_indices) {
  DataLoaderOptions out = options;
  if (!has_indices) out.workers(std::min<size_t>(options.workers(), 1));
  return out.shuffle(false).pin_memory(false).device(std::nullopt);
}

void refuse_state() {
  fail<NotImplementedError>(
      "DataLoader: the data set knows itself which examples come next, and so where it stands; "
      "save the data set");
}

size_t known_size(std::optional<size_t> size) {
  check(size.has_value(),
        "DataLoader: the data set does not say how many examples it has; give a sampler with a "
        "size of its own, "
        "or derive the data set from StatefulDataset or IterableDataset");
  return *size;
}

}  // namespace gradus::data::detail
