// Keeps what was found, from the thread that finds it until somebody asks.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <string>
#include <vector>

#include "gradus/cuda/sim/check/symbols.h"
#include "gradus/cuda/sim/simulator.h"

namespace gradus::cuda::sim {

// A finding whose addresses have not been turned into lines yet.
struct Sighting {
  struct Side {
    std::string what;
    Trace trace;
    bool by_thread = false;
    Index3 block{}, thread{};
  };
  Kind kind;
  std::string message;
  std::vector<Side> sides;
  int64_t times = 1;
};

// The findings of one launch. Findings of one kind at one place, or pair of places, count as one.
class Sightings {
 public:
  // make() returns the Sighting; it is called only for the first at a place.
  template <class Make>
  void add(Kind kind, uintptr_t pc, uintptr_t other_pc, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (Entry& each : entries_)
      if (each.sighting.kind == kind && each.is_between(pc, other_pc)) {
        ++each.sighting.times;
        return;
      }
    if (entries_.size() < kMost) entries_.push_back({pc, other_pc, make()});
  }
  // Publishes them all as findings of the kernel.
  void publish(const std::string& kernel);
  bool empty() const { return entries_.empty(); }

 private:
  static constexpr size_t kMost = 64;
  struct Entry {
    uintptr_t pc, other_pc;
    Sighting sighting;
    bool is_between(uintptr_t a, uintptr_t b) const {
      return (pc == a && other_pc == b) || (pc == b && other_pc == a);
    }
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

void publish(Finding finding);
// Whether all that nobody has taken yet is of memory that was read before it was written.
bool are_all_unwritten();
// All that nobody has taken yet, as text for the message of an error.
std::string tell_findings();

}  // namespace gradus::cuda::sim
