// Numbers program counters, so that they fit into a Record.

#include <array>
#include <atomic>

#include "gradus/cuda/sim/check/shadow.h"

namespace gradus::cuda::sim {

namespace {
constexpr unsigned kPlaces = 1 << 14, kMostProbes = 64;
constinit std::array<std::atomic<uintptr_t>, kPlaces> places{};
}  // namespace

unsigned place_of(uintptr_t pc) {
  unsigned at = static_cast<unsigned>(pc * 0x9E3779B97F4A7C15u >> 50);
  for (unsigned probe = 0; probe < kMostProbes; ++probe, at = (at + 1) % kPlaces) {
    if (at == 0) continue;
    uintptr_t there = places[at].load(std::memory_order_relaxed);
    if (there == pc) return at;
    if (there == 0 && places[at].compare_exchange_strong(there, pc)) return at;
    if (there == pc) return at;
  }
  return 0;
}

uintptr_t pc_of(unsigned place) { return places[place].load(std::memory_order_relaxed); }

}  // namespace gradus::cuda::sim
