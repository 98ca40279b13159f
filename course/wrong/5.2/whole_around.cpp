// LOSES: bytes, order of the sums, same bits
// Each rank's whole data go around the circle, and everyone adds them all up.
#include "core/parallel.h"

namespace course {

void all_reduce(Link& link, float* data, long n) {
  std::vector<float> passing(data, data + n);
  for (int step = 1; step < link.size(); ++step) {
    link.send(passing.data(), n);
    link.receive(passing.data(), n);
    for (long i = 0; i < n; ++i) data[i] += passing[i];
  }
}

}  // namespace course
