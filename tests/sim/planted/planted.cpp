// The registry of planted mistakes.
#include "tests/sim/planted/planted.h"

namespace gradus::planted {

namespace {
std::vector<Planted>& registry() {
  static std::vector<Planted> all;
  return all;
}
}  // namespace

std::span<const Planted> planted_bugs() { return registry(); }

Plant::Plant(const char* name, const char* kind, void (*run)()) {
  registry().push_back({name, kind, run});
}

}  // namespace gradus::planted
