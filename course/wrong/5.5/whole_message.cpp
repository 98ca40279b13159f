// LOSES: rate, both, fractions
// Every step is taken to move the whole data.
#include "core/parallel.h"

namespace course {

double ring_time(long bytes, int ranks, double latency, double rate) {
  return 2 * (ranks - 1) * (latency + static_cast<double>(bytes) / rate);
}

}  // namespace course
