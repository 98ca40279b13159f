// StatelessDataLoader: batches of a data set, of the examples that a sampler chooses.
#pragma once

#include "gradus/data/loader/base.h"

namespace gradus::data {

// Each worker has a copy of the data set, made by the constructor.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                                                  typename Sampler::BatchRequestType> {
  using Base =
      DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;

 public:
  using typename Base::BatchRequestType;

  // Errors: ValueError for several workers and a data set that cannot be copied; ThreadError.
  StatelessDataLoader(Dataset dataset, Sampler sampler, const DataLoaderOptions& options)
      : Base(options, std::make_unique<Dataset>(std::move(dataset))), sampler_(std::move(sampler)) {
    this->start_workers();
  }

 protected:
  void reset() override { sampler_.reset(); }

  std::optional<BatchRequestType> get_batch_request() override {
    auto request = sampler_.next(this->options().batch_size);
    if (request && this->options().drop_last && request->size() < this->options().batch_size)
      return std::nullopt;
    return request;
  }

  Sampler sampler_;
};

}  // namespace gradus::data
