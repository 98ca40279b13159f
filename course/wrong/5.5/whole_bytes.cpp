// LOSES: fractions
// The bytes of a part are divided as whole numbers.
#include "core/parallel.h"

namespace course {

double ring_time(long bytes, int ranks, double latency, double rate) {
  return 2 * (ranks - 1) * (latency + static_cast<double>(bytes / ranks) / rate);
}

}  // namespace course
