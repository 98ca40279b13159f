// LOSES: no such element, size zero
// Another exception than the header names.
#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  long count = 1;
  for (const long size : sizes) count *= size;
  if (n < 0 || n >= count) throw std::runtime_error("index_of: there is no such element");
  Dims position(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    position[d] = n % sizes[d];
    n /= sizes[d];
  }
  return position;
}

}  // namespace course
