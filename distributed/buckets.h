// Which gradients travel together. Few large messages are faster than many small ones, and several
// are better than one, which could not start before the last gradient is there.
#pragma once

#include <vector>

#include "gradus/distributed/work.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

struct Bucket {
  std::vector<size_t> parameters;  // their numbers, in the order of their places in `flat`
  int64_t numel = 0;
  // --- Of the step that runs
  size_t missing = 0;  // gradients that have not arrived
  Tensor flat;         // the gradients one after the other, or the only one itself
  WorkPtr work;        // their reduction, where it has begun
};

// The parameters in the given order, up to `bytes` in a bucket, and `first_bytes` in the first one,
// which is to start early. A bucket has one dtype and device.
std::vector<Bucket> make_buckets(const Tensors& parameters, const std::vector<size_t>& order,
                                 size_t first_bytes, size_t bytes);

}  // namespace gradus::distributed
