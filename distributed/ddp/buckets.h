// Bucket: gradients that are averaged in one message. Few large messages are faster than many small
// ones; but one message alone could not start before the last gradient has arrived. A large
// gradient has a bucket of its own and is sent in pieces (autograd/engine/pieces.h), each as soon
// as it is computed.
#pragma once

#include <vector>

#include "gradus/distributed/work.h"
#include "gradus/tensor/storage_slice.h"
#include "gradus/tensor/tensor.h"

namespace gradus::distributed {

struct Bucket {
  std::vector<size_t> parameters;  // their numbers, in the order of their places in `flat`
  int64_t numel = 0;
  std::vector<int64_t> ends;  // where the pieces end, in elements; the same at all ranks
  int64_t place = 0;          // in the group's shared memory, in bytes
  // --- The last step, in that memory
  std::weak_ptr<StorageSlice> memory;
  std::shared_ptr<Arrival> averages;
  // --- The step that runs
  size_t missing = 0;          // gradients that have not arrived
  Tensor flat;                 // the gradients one after the other
  int64_t ready = 0;           // how many elements of a gradient in pieces are computed
  std::vector<WorkPtr> works;  // the reductions of the pieces that have begun
};

// Fills buckets with the parameters in the given order: up to `bytes` in each, and `first_bytes` in
// the first, which should start early. A bucket has one dtype and device.
std::vector<Bucket> make_buckets(const Tensors& parameters, const std::vector<size_t>& order,
                                 size_t first_bytes, size_t bytes);

}  // namespace gradus::distributed
