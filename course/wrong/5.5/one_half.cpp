// LOSES: latency, rate, both, fractions
// Only the steps that add are counted.
#include "core/parallel.h"

namespace course {

double ring_time(long bytes, int ranks, double latency, double rate) {
  return (ranks - 1) * (latency + static_cast<double>(bytes) / ranks / rate);
}

}  // namespace course
