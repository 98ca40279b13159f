// StatefulDataLoader: batches of a data set that knows itself which come next.
#pragma once

#include "gradus/data/loader/base.h"

namespace gradus::data {

// Workers have copies of the data set: share it by make_shared_dataset, so that they read one.
template <class Dataset>
class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                                                 typename Dataset::BatchRequestType> {
  using Base = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                              typename Dataset::BatchRequestType>;

 public:
  using typename Base::BatchRequestType;

  // Errors: ValueError for workers and a data set that cannot be copied; ThreadError.
  StatefulDataLoader(Dataset dataset, const DataLoaderOptions& options)
      : Base(options, std::make_unique<Dataset>(std::move(dataset))) {
    this->start_workers();
  }

 protected:
  void reset() override { this->main_thread_dataset().reset(); }
  std::optional<BatchRequestType> get_batch_request() override {
    return this->options().batch_size;
  }
};

}  // namespace gradus::data
