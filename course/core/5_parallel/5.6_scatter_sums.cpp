// Task 5.6: the two halves of a ring: sums that stay in parts, and parts that all ranks get.
#include <algorithm>

#include "core/parallel.h"

namespace course {

// BEGIN SOLUTION 5.6 kernel
// The parts of n numbers, which are counted modulo size.
struct Parts {
  int size;
  long n;

  int number(int part) const { return (part % size + size) % size; }
  long begin(int part) const {
    return number(part) * (n / size) + std::min<long>(number(part), n % size);
  }
  long length(int part) const { return n / size + (number(part) < n % size); }
};
// END SOLUTION 5.6

void reduce_scatter(Link& link, float* out, const float* data, long n) {
  // BEGIN SOLUTION 5.6
  const int rank = link.rank();
  const Parts parts{link.size(), n};
  const float* const first = data + parts.begin(rank - 1);
  std::vector<float> sum(first, first + parts.length(rank - 1));
  for (int step = 0; step < parts.size - 1; ++step) {
    link.send(sum.data(), static_cast<long>(sum.size()));
    const int part = rank - 2 - step;
    sum.resize(static_cast<size_t>(parts.length(part)));
    link.receive(sum.data(), parts.length(part));
    const float* own = data + parts.begin(part);
    for (float& each : sum) each += *own++;
  }
  std::copy(sum.begin(), sum.end(), out);
  // END SOLUTION 5.6
}

void all_gather(Link& link, float* out, const float* part, long n) {
  // BEGIN SOLUTION 5.6
  const int rank = link.rank();
  const Parts parts{link.size(), n};
  std::copy(part, part + parts.length(rank), out + parts.begin(rank));
  for (int step = 0; step < parts.size - 1; ++step) {
    link.send(out + parts.begin(rank - step), parts.length(rank - step));
    link.receive(out + parts.begin(rank - step - 1), parts.length(rank - step - 1));
  }
  // END SOLUTION 5.6
}

}  // namespace course
