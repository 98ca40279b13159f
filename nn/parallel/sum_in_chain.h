// The order in which the gradients of several replicas are added.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// parts[0] + (parts[1] + (... + parts[n - 1])): a chain from the last to the first, in the dtype of
// the parts, on the device of each sum's left side. Undefined parts are skipped; where all are, the
// result is undefined. The result is new, and the parts do not change.
//
// DataParallel adds the gradients of its replicas in exactly this order, so n replicas give the
// same bits as the same n shards computed one after the other on one device. The order is a chain
// because a chain keeps every link between neighbouring GPUs busy in one direction: cut into
// pieces, it takes one transfer of the whole plus n - 2 of a piece. In a binary tree the first GPU
// would receive the whole log2(n) times.
Tensor sum_in_chain(ArrayRef<Tensor> parts);

}  // namespace gradus::nn::parallel
