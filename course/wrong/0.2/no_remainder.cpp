// LOSES: known, size one, round trip, large
// Divides by the stride, and forgets that what the dimensions before take must go.
#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  long count = 1;
  for (const long size : sizes) count *= size;
  if (n < 0 || n >= count) throw std::out_of_range("index_of: there is no such element");
  Dims position(sizes.size());
  long stride = count;
  for (size_t d = 0; d < sizes.size(); ++d) {
    stride /= sizes[d];
    position[d] = n / stride;
  }
  return position;
}

}  // namespace course
