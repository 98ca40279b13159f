// Draws of random transforms.
#include "gradus/data/transforms/random.h"

#include <algorithm>

#include "gradus/tensor/generator.h"

namespace gradus::data::transforms::detail {

double uniform(double low, double high) {
  constexpr double kStep = 0x1p-53;
  const uint64_t bits = default_generator(kCPU).get<GeneratorImpl>()->random64() >> 11;
  return low + (high - low) * (static_cast<double>(bits) * kStep);
}

int64_t below(int64_t count) {
  return std::min(static_cast<int64_t>(uniform(0, static_cast<double>(count))), count - 1);
}

bool happens(double probability) { return uniform(0, 1) < probability; }

}  // namespace gradus::data::transforms::detail
