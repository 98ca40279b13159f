// The threads of the CPU's loops, with libtorch's names.
#pragma once

namespace gradus {

// As many as there are cores, until set. Applies to loops that this thread starts.
int get_num_threads();
// Errors: ValueError where count is not positive.
void set_num_threads(int count);

}  // namespace gradus
