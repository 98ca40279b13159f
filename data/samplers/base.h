// Sampler: which examples of a data set come next, with libtorch's names.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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
};

}  // namespace gradus::data::samplers
