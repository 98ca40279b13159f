// Indices drawn by weights, as Python's WeightedRandomSampler: rare classes more often than they
// are there.
#pragma once

#include "gradus/data/samplers/base.h"
#include "gradus/tensor/tensor.h"

namespace gradus::data::samplers {

class WeightedRandomSampler final : public Sampler<> {
 public:
  // `weights` has one for each example; they need not add up to 1. An epoch has `num_samples`
  // indices, which every reset() draws anew, each of them once at most where `replacement` is
  // false. Errors: ValueError for weights that are no row of numbers, and as multinomial.
  WeightedRandomSampler(Tensor weights, int64_t num_samples, bool replacement = true);
  // The size is the number of indices of an epoch.
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  // The number of indices returned since reset().
  size_t index() const noexcept { return static_cast<size_t>(index_); }

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  Tensor weights_, drawn_;
  int64_t num_samples_, index_ = 0;
  bool replacement_;
};

}  // namespace gradus::data::samplers
