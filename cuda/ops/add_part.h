// The combining step of an all_reduce.
#pragma once

#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/tensor.h"

namespace gradus::cuda {

// Whether x may be given to add_part: float32 or float64, contiguous and aligned to 16 bytes.
bool takes_parts(const Tensor& x);

// sum = (sum + part) / divisor, of `numel` elements. The blocks are small enough to run beside
// those of large products, which go on at the same time. REQUIRES: takes_parts of tensors there, in
// memory of the stream's device.
void add_part(void* sum, const void* part, int64_t numel, ScalarType dtype, double divisor,
              const Stream& stream);

}  // namespace gradus::cuda
