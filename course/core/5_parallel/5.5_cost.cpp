// Task 5.5: how long a ring takes.
#include "core/parallel.h"

namespace course {

double ring_time(long bytes, int ranks, double latency, double rate) {
  // BEGIN SOLUTION 5.5
  return 2 * (ranks - 1) * (latency + static_cast<double>(bytes) / ranks / rate);
  // END SOLUTION 5.5
}

}  // namespace course
