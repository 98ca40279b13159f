// LOSES: size one, both, inner product
// Adds up new dimensions only; a dimension of size 1 is taken for one of x's.
#include "core/autodiff.h"

namespace course {

Tensor sum_to(const Tensor& x, const Dims& sizes) {
  if (x.sizes == sizes) return x;
  const size_t rank = x.sizes.size();
  if (sizes.size() > rank) throw std::invalid_argument("sum_to: more dimensions than x has");
  const size_t added = rank - sizes.size();
  Dims steps(rank);  // from an element of x to the next: how far its sum moves, 0 along what is added up
  long step = 1;
  for (size_t d = sizes.size(); d-- > 0; step *= sizes[d]) {
    if (sizes[d] != 1 && sizes[d] != x.sizes[added + d])
      throw std::invalid_argument("sum_to: the sizes do not broadcast to those of x");
    steps[added + d] = step;
  }
  const Tensor out = make(sizes);
  const float* const from = x.read();
  float* const to = out.write();
  for (long n = 0; n < x.count(); ++n) {
    long rest = n, place = 0;
    for (size_t d = rank; d-- > 0; rest /= x.sizes[d]) place += rest % x.sizes[d] * steps[d];
    if (place < out.count()) to[place] += from[n];
  }
  return out;
}

}  // namespace course
