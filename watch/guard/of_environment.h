// Starts the guard of GRADUS_NAN_GUARD=1 with the program, whose sources alone include this.
#pragma once

#include "gradus/watch/guard/nan_guard.h"

namespace gradus::detail {
inline const bool nan_guard_of_environment = start_nan_guard_of_environment();
}
