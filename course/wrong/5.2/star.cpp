// LOSES: bytes, order of the sums
// Rank 0 gets the whole sum, which grows from rank to rank, and then everyone hands it on.
#include "core/parallel.h"

namespace course {

void all_reduce(Link& link, float* data, long n) {
  if (link.size() == 1) return;
  const int rank = link.rank(), last = link.size() - 1;
  std::vector<float> sum(n);
  if (rank > 0) {
    link.receive(sum.data(), n);
    for (long i = 0; i < n; ++i) data[i] += sum[i];
  }
  link.send(data, n);
  if (rank < last) {
    link.receive(data, n);
    if (rank < last - 1) link.send(data, n);
  } else {
    return;
  }
}

}  // namespace course
