// Perplexity: how many words a language model is undecided between.
#pragma once

#include <optional>

#include "gradus/tensor/base/option.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// ignore_index: targets that do not count, such as padding.
struct PerplexityOptions {
  GRADUS_OPTIONS(PerplexityOptions, OPTION(std::optional<int64_t>, ignore_index, std::nullopt));
};

// exp of the mean negative log-likelihood of the targets.
class Perplexity : public Metric {
 public:
  explicit Perplexity(PerplexityOptions options = {}) : options_(options) {}

  // preds: scores before softmax, of the shape (..., words). target: integers, (...).
  // Errors: TypeError where preds holds no fractions or target no integers; ValueError
  // where the shapes do not belong together; IndexError for a target that is no word.
  void update(const Tensor& preds, const Tensor& target);
  Tensor compute() const override;
  void reset() override;

 protected:
  Tensor state() const override;
  void take_states(const Tensors& of_ranks) override;

 private:
  PerplexityOptions options_;
  Tensor loss_, counted_;
};

}  // namespace gradus::metrics
