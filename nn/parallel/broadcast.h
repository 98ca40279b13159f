// Broadcast: tensors of a module are copied to its replicas, as an operation that autograd records.
// The backward is sum_in_chain, in the order in which the gradients of the replicas are added.
#pragma once

#include <vector>

#include "gradus/nn/parallel/side_streams.h"

namespace gradus::nn::parallel {

// parts[0] + (parts[1] + (... + parts[n - 1])): a chain from the last to the first, in the dtype of
// the parts, on the device of each sum's left side. Undefined parts are skipped; where all are, the
// result is undefined. The result is new, and the parts do not change. Recorded. The first GPU of a
// binary tree would receive the whole log2(n) times.
Tensor sum_in_chain(ArrayRef<Tensor> parts);

// Some tensors of one device and dtype that are sent together. copies[r][i] is the copy of
// sources[i] at replica r: contiguous, and of its shape.
struct Broadcast {
  ArrayRef<Tensor> sources;
  std::vector<ArrayRef<Tensor>> copies;

  // Copies the values to the replicas from `first` on, each from the one before it. Whoever uses a
  // copy waits for it. Returns memory to keep until SideStreams::join().
  // REQUIRES: SideStreams of all devices. Where `stays`, sources are not changed before the join.
  Tensors send(size_t first, bool stays) const;
  // Makes the copies results of the sources. The backward pass adds the gradients of the copies of
  // one source by sum_in_chain(), as soon as all of them are there.
  void record() const;
};

}  // namespace gradus::nn::parallel
