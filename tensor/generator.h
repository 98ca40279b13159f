// Random numbers: the state of a Philox generator (tensor/philox.h) per device.
#pragma once

#include <cstdint>
#include <mutex>

#include "gradus/tensor/backend.h"

namespace gradus {

class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed) : state_{seed, 0} {}
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  void set_current_seed(uint64_t seed);
  uint64_t current_seed() const;
  // Reserves the numbers for `elements` elements and returns the state to draw them with.
  PhiloxState take(int64_t elements);
  // Where it stands; set, it draws the same numbers again.
  PhiloxState state() const;
  void set_state(PhiloxState state);

 private:
  mutable std::mutex mutex_;
  PhiloxState state_;
};

// The generator that random factories use on a device. REQUIRES: device has an index, or is the
// CPU.
Generator& default_generator(Device device);

// Seeds the default generator of every device.
void manual_seed(uint64_t seed);

}  // namespace gradus
