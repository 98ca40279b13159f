// An access that is being checked, and its text in a report.
#pragma once

#include <string>
#include <vector>

#include "gradus/cuda/sim/check/access.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

struct Seen {
  Access access;
  uintptr_t address;
  size_t size;
  uintptr_t pc;
  bool is_volatile;

  std::string text() const {
    const char* const verb = access == Access::read    ? "reads "
                             : access == Access::write ? "writes "
                                                       : "changes atomically ";
    return verb + std::to_string(size) + (size == 1 ? " byte" : " bytes");
  }
};

// The side of a report that the running thread is on.
inline Sighting::Side side_of(Worker& worker, const Seen& seen) {
  return worker.side(seen.text(), *worker.current, current_trace());
}

}  // namespace gradus::cuda::sim
