// LOSES: known, size one, round trip, large
// The first dimension runs fastest, as in column-major order.
#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  long count = 1;
  for (const long size : sizes) count *= size;
  if (n < 0 || n >= count) throw std::out_of_range("index_of: there is no such element");
  Dims position(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    position[d] = n % sizes[d];
    n /= sizes[d];
  }
  return position;
}

}  // namespace course
