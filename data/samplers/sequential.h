// 0, 1, ... size - 1.
#pragma once

#include "gradus/data/samplers/base.h"

namespace gradus::data::samplers {

class SequentialSampler final : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  // The number of indices returned since reset().
  size_t index() const noexcept { return index_; }

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t size_, index_ = 0;
};

}  // namespace gradus::data::samplers
