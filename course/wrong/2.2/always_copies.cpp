// LOSES: same sizes
// Copies x where nothing was broadcast.
#include "core/autodiff.h"

namespace course {

Tensor sum_to(const Tensor& x, const Dims& sizes) {
  const size_t rank = x.sizes.size();
  if (sizes.size() > rank) throw std::invalid_argument("sum_to: more dimensions than x has");
  const size_t added = rank - sizes.size();
  Dims steps(rank);  // from an element of x to the next: how far its sum moves, 0 along what is added up
  long step = 1;
  for (size_t d = sizes.size(); d-- > 0; step *= sizes[d]) {
    if (sizes[d] != 1 && sizes[d] != x.sizes[added + d])
      throw std::invalid_argument("sum_to: the sizes do not broadcast to those of x");
    steps[added + d] = sizes[d] == 1 ? 0 : step;
  }
  const Tensor out = make(sizes);
  const float* const from = x.read();
  float* const to = out.write();
  for (long n = 0; n < x.count(); ++n) {
    long rest = n, place = 0;
    for (size_t d = rank; d-- > 0; rest /= x.sizes[d]) place += rest % x.sizes[d] * steps[d];
    to[place] += from[n];
  }
  return out;
}

}  // namespace course
