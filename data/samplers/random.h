// 0, 1, ... size - 1 in an order that every reset() draws anew.
#pragma once

#include "gradus/data/samplers/base.h"
#include "gradus/tensor/tensor.h"

namespace gradus::data::samplers {

class RandomSampler final : public Sampler<> {
 public:
  // The order is kept as numbers of index_dtype, so that a short type saves memory.
  // Errors: as randperm.
  explicit RandomSampler(int64_t size, ScalarType index_dtype = kLong);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  // The number of indices returned since reset().
  size_t index() const noexcept { return static_cast<size_t>(index_); }

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  Tensor order_;
  int64_t index_ = 0;
};

}  // namespace gradus::data::samplers
