#include "gradus/tensor/generator.h"

#include <array>

#include "gradus/tensor/philox.h"

namespace gradus {

void Generator::set_current_seed(uint64_t seed) {
  const std::lock_guard lock(mutex_);
  state_ = {seed, 0};
}

uint64_t Generator::current_seed() const {
  const std::lock_guard lock(mutex_);
  return state_.seed;
}

PhiloxState Generator::take(int64_t elements) {
  const std::lock_guard lock(mutex_);
  const PhiloxState out = state_;
  state_.offset +=
      (static_cast<uint64_t>(elements) + philox::kElementsPerBlock - 1) / philox::kElementsPerBlock;
  return out;
}

PhiloxState Generator::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Generator::set_state(PhiloxState state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

namespace {
// One for the CPU, one for each index a CUDA device can have.
std::array<Generator, 1 + INT8_MAX + 1>& generators() {
  static auto* all = new std::array<Generator, 1 + INT8_MAX + 1>;  // outlives static destructors
  return *all;
}
}  // namespace

Generator& default_generator(Device device) {
  return generators()[device.is_cpu() ? 0 : 1 + static_cast<size_t>(device.index())];
}

void manual_seed(uint64_t seed) {
  for (Generator& generator : generators()) generator.set_current_seed(seed);
}

}  // namespace gradus
