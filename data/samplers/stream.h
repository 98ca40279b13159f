// Sizes of batches for data without indices. The stream itself decides which examples come next.
#pragma once

#include "gradus/data/samplers/base.h"

namespace gradus::data::samplers {

// A batch of a stream: its size.
struct CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  virtual size_t size() const = 0;
};

struct BatchSize : CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }
  size_t size_;
};

class StreamSampler final : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t size_, index_ = 0;
};

}  // namespace gradus::data::samplers
