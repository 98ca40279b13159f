// Copies from global to shared memory that no thread waits for at once: the twin of PTX's cp.async.
#pragma once

#include <host_defines.h>

namespace gradus::cuda::sim {

// Begins to copy `bytes` bytes to a place of `width` bytes (4, 8 or 16), whose rest becomes zero.
// The copy is done when this thread has waited for the group that it belongs to, and not before.
void begin_copy(void* to, const void* from, unsigned width, unsigned bytes);
// Makes a group of the copies that this thread has begun since the last call.
void end_copy_group();
// Waits until at most the last `pending` groups of this thread are under way.
void wait_for_copies(unsigned pending);

}  // namespace gradus::cuda::sim
