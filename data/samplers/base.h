// Sampler: which examples of a data set come next, with libtorch's names.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace gradus::serialize {
class OutputArchive;
class InputArchive;
}  // namespace gradus::serialize

namespace gradus::data::samplers {

template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;

  // Begins an epoch, over a data set of another size where that is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  // The next examples, fewer at the end; nothing after it.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;

  // Where it stands, so that gradus::save and gradus::load take a sampler. Those of this folder are
  // defined in serialize/samplers.cpp.
  // Errors of load: ValueError for a state that the sampler cannot have; nothing is changed then.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

}  // namespace gradus::data::samplers
