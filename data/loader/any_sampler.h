// AnySampler: a sampler whose class is not known.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/data/samplers/base.h"

namespace gradus::data::detail {

template <class S>
concept IsSampler = requires {
  typename S::BatchRequestType;
};

template <class Request>
struct AnySampler {
  virtual ~AnySampler() = default;
  virtual std::unique_ptr<AnySampler> copy() const = 0;
  virtual void reset() = 0;
  virtual std::optional<Request> next(size_t batch_size) = 0;
  // Where the sampler has a set_epoch.
  virtual void set_epoch(size_t epoch) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <IsSampler S>
class SamplerOf final : public AnySampler<typename S::BatchRequestType> {
  using Request = typename S::BatchRequestType;

 public:
  explicit SamplerOf(S sampler) : sampler_(std::move(sampler)) {}
  std::unique_ptr<AnySampler<Request>> copy() const override {
    return std::make_unique<SamplerOf>(sampler_);
  }
  void reset() override { sampler_.reset(std::nullopt); }
  std::optional<Request> next(size_t batch_size) override { return sampler_.next(batch_size); }
  void set_epoch(size_t epoch) override {
    if constexpr (requires { sampler_.set_epoch(epoch); }) sampler_.set_epoch(epoch);
  }
  void save(serialize::OutputArchive& archive) const override { sampler_.save(archive); }
  void load(serialize::InputArchive& archive) override { sampler_.load(archive); }

 private:
  S sampler_;
};

template <IsSampler S>
std::unique_ptr<AnySampler<typename S::BatchRequestType>> any_sampler(S sampler) {
  return std::make_unique<SamplerOf<S>>(std::move(sampler));
}
// All indices below the size, in order or shuffled.
std::unique_ptr<AnySampler<std::vector<size_t>>> every_index(size_t size, bool shuffled);

}  // namespace gradus::data::detail
