// The threads of the CPU's loops, with libtorch's names.
#pragma once

#include <cstdint>
#include <functional>

namespace gradus {

// The number of cores, until it is set. Applies to loops that this thread starts.
int get_num_threads();
// Sets how many. Errors: ValueError where count is not positive.
void set_num_threads(int count);

namespace detail {
// How many threads a loop that starts here uses. It is 1 inside a loop.
int usable_threads();
// Calls part(i) for i in [0, count), on several threads; inside of such a call in order. Errors:
// rethrows one exception of a part; others may be left out then.
void run_parts(int64_t count, const std::function<void(int64_t)>& part);
}  // namespace detail

}  // namespace gradus
