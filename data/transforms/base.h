// Transforms under libtorch's names: what dataset.map(transform) takes.
#pragma once

#include <utility>
#include <vector>

#include "gradus/data/datasets/failed_sample.h"

namespace gradus::data::transforms {

// Makes a batch of a batch.
template <class InputBatch, class OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;
  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

// Makes an example of each example of a batch.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    try {
      for (Input& input : input_batch) output_batch.push_back(apply(std::move(input)));
    } catch (...) {
      data::detail::note_failed_place(output_batch.size());
      throw;
    }
    return output_batch;
  }
};

}  // namespace gradus::data::transforms
