// The order in which the gradients of several replicas are added.
#pragma once

#include "gradus/tensor/tensor.h"

namespace gradus::nn::parallel {

// parts[0] + (parts[1] + (... + parts[n - 1])): a chain from the last to the first, in the dtype of
// the parts, on the device of each sum's left side. Undefined parts are left out; undefined where
// all are. The result is new, and the parts stay as they are.
//
// DataParallel adds the gradients of its replicas in exactly this order, so that n replicas give
// bit for bit what the same n shards give one after the other on one device. A chain, because it
// keeps every link between neighbouring GPUs busy in one direction, and cut into pieces takes the
// time of one transfer of the whole and n - 2 of a piece; in a binary tree the first GPU would
// receive log2(n) times the whole.
Tensor sum_in_chain(ArrayRef<Tensor> parts);

}  // namespace gradus::nn::parallel
