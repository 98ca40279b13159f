// Reports mistakes of the thread that runs, other than its accesses to memory.
#pragma once

#include <string>

#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

// Reports a mistake of the kernel thread that runs here. make() returns the message.
template <class Make>
void report_here(Kind kind, const char* what, uintptr_t pc, const Make& make) {
  const Unwatched guard;
  here->launch->sightings.add(kind, pc, 0, [&] {
    Sighting out{kind, make(), {}};
    out.sides.push_back(here->side(what, *here->current, current_trace()));
    return out;
  });
}
template <class Make>
[[noreturn]] void stop_here(Kind kind, const char* what, uintptr_t pc, const Make& make) {
  report_here(kind, what, pc, make);
  here->stop_thread();
}

// The same where kernels are checked; otherwise these do nothing.
inline bool is_checked_here() { return watching && watching->launch->checked; }
template <class Make>
void report_mistake(Kind kind, const char* what, uintptr_t pc, const Make& make) {
  if (is_checked_here()) report_here(kind, what, pc, make);
}
template <class Make>
void stop_for_mistake(Kind kind, const char* what, uintptr_t pc, const Make& make) {
  if (is_checked_here()) stop_here(kind, what, pc, make);
}

}  // namespace gradus::cuda::sim
