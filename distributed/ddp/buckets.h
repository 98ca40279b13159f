// Which gradients travel together. Few large messages are faster than many small ones, and several
// are better than one, which could not start before the last gradient is there. A large gradient
// travels alone, in pieces (autograd/engine/pieces.h), which start before the rest of it is
// computed.
#pragma once

#include <vector>

#include "gradus/distributed/work.h"
#include "gradus/tensor/storage_slice.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

struct Bucket {
  std::vector<size_t> parameters;  // their numbers, in the order of their places in `flat`
  int64_t numel = 0;
  std::vector<int64_t> ends;  // of the pieces, by elements; the same at all ranks
  int64_t place = 0;          // in the group's shared memory, in bytes
  // --- Of the last step, in that memory
  std::weak_ptr<StorageSlice> memory;
  std::shared_ptr<Arrival> averages;
  // --- Of the step that runs
  size_t missing = 0;          // gradients that have not arrived
  Tensor flat;                 // the gradients one after the other
  int64_t ready = 0;           // of one that comes in parts: so many elements are computed
  std::vector<WorkPtr> works;  // the reductions of the pieces that have begun
};

// The parameters in the given order, up to `bytes` in a bucket, and `first_bytes` in the first one,
// which is to start early. A bucket has one dtype and device.
std::vector<Bucket> make_buckets(const Tensors& parameters, const std::vector<size_t>& order,
                                 size_t first_bytes, size_t bytes);

}  // namespace gradus::distributed
