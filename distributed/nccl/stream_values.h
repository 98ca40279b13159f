// Words in the memory of a GPU by which streams wait for those of other processes. Private to the
// library.
#pragma once

#include <cstdint>

#include "gradus/cuda/runtime/stream.h"

namespace gradus::distributed {

// Work queued on the stream from here on waits until *word has come to `value` or beyond, counted
// round 2^32. REQUIRES: memory of the stream's device. Errors: Error.
void wait_value(const cuda::Stream& stream, const uint32_t* word, uint32_t value);
// *word = value, when the stream has done what is queued so far, and when that can be seen from all
// devices. REQUIRES: memory that the stream's device reaches. Errors: Error.
void write_value(const cuda::Stream& stream, uint32_t* word, uint32_t value);

}  // namespace gradus::distributed
