// The options of a DataLoader, as its base takes them.
#include "gradus/data/loader/data_loader.h"

#include "gradus/data/samplers/random.h"
#include "gradus/data/samplers/sequential.h"

namespace gradus::data::detail {

bool pins(const DataLoaderOptions& options) {
  return options.pin_memory() || (options.device() && options.device()->is_cuda());
}

DataLoaderOptions loader_options(const DataLoaderOptions& options, bool has_indices) {
  DataLoaderOptions out = options;
  if (!has_indices) out.workers(std::min<size_t>(options.workers(), 1));
  return out.shuffle(false).pin_memory(false).device(std::nullopt);
}

std::unique_ptr<AnySampler<std::vector<size_t>>> every_index(size_t size, bool shuffled) {
  if (!shuffled) return any_sampler(samplers::SequentialSampler(size));
  return any_sampler(samplers::RandomSampler(static_cast<int64_t>(size)));
}

void refuse_state() {
  fail<NotImplementedError>(
      "DataLoader: the data set knows itself which examples come next, and so where it stands; "
      "save the data set");
}

void check_length(size_t first, size_t other) {
  check(first == other, "DataLoader: an example of the batch is a list of ", first,
        " elements, and another one of ", other,
        ", expected as many; pad them, or join the examples by a BatchLambda");
}

Tensor stacked(const std::vector<Tensor>& values) {
  for (const Tensor& value : values)
    check(value.sizes() == values[0].sizes(), "DataLoader: examples of a batch have the shapes ",
          values[0].sizes(), " and ", value.sizes(),
          ", expected one shape; map a Resize over pictures, or pad the examples");
  return stack(values);
}

size_t known_size(std::optional<size_t> size) {
  check(size.has_value(),
        "DataLoader: the data set does not say how many examples it has; give a sampler with a "
        "size of its own, "
        "or derive the data set from StatefulDataset or IterableDataset");
  return *size;
}

}  // namespace gradus::data::detail
