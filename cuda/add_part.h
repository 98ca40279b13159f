// The combining step of an all_reduce.
#pragma once

#include "gradus/cuda/stream.h"
#include "gradus/tensor/dtype.h"

namespace gradus::cuda {

// sum = (sum + part) / divisor, of `numel` elements, by a few blocks: most multiprocessors go on
// with what they do.
// REQUIRES: float32 or float64; addresses of memory of the stream's device, aligned to 16 bytes.
void add_part(void* sum, const void* part, int64_t numel, ScalarType dtype, double divisor,
              const Stream& stream);

}  // namespace gradus::cuda
