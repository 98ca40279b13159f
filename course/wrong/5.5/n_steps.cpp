// LOSES: latency, rate, both, one rank, fractions
// N steps in each half.
#include "core/parallel.h"

namespace course {

double ring_time(long bytes, int ranks, double latency, double rate) {
  return 2 * (ranks) * (latency + static_cast<double>(bytes) / ranks / rate);
}

}  // namespace course
