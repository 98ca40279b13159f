// Copies between devices whose order the caller sees to.
#pragma once

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Lets `device` reach the memory of `peer` directly; false where the machine cannot, and CUDA then
// copies through the host. Errors: ValueError where there is no such device.
bool enable_peer_access(int device, int peer);

// Queues dst = src on `stream`, which belongs to dst's device, and on nothing else. The caller lets
// the stream wait for src, and keeps both alive until the stream has done it.
// REQUIRES: both are contiguous CUDA tensors of one size in bytes; or, where enable_peer_access
// says yes, matrices of one shape and dtype whose rows are contiguous.
void copy_async(const Tensor& dst, const Tensor& src, const Stream& stream);

}  // namespace gradus::cuda
