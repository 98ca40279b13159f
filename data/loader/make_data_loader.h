// make_data_loader, as libtorch's. data::DataLoader (data/loader/data_loader.h) is the shorter way.
#pragma once

#include "gradus/data/loader/stateful.h"
#include "gradus/data/loader/stateless.h"
#include "gradus/data/samplers/random.h"

namespace gradus::data {

// A loader of the examples that the sampler chooses, in its order.
template <class Dataset, class Sampler>
requires(!Dataset::is_stateful)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset),
                                                                 std::move(sampler), options);
}

// A loader with a sampler of the class Sampler over all examples. Errors: Error where the size of
// the data set is not known.
template <class Sampler = samplers::RandomSampler, class Dataset>
requires(!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  check<Error>(size.has_value(),
               "Expected the dataset to be sized in order to construct the Sampler; give a sampler "
               "with a size of its own");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

// A loader of a data set that knows itself which examples come next.
template <class Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = {}) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace gradus::data
