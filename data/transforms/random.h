// Draws of random transforms, from the default generator of the CPU.
#pragma once

#include <cstdint>

namespace gradus::data::transforms::detail {

// A number from low to high, without high.
double uniform(double low, double high);
// 0 to count - 1.
int64_t below(int64_t count);
bool happens(double probability);

}  // namespace gradus::data::transforms::detail
