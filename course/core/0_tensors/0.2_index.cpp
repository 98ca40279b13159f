// Task 0.2: the position of an element, by its number.
#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  // BEGIN SOLUTION 0.2
  long count = 1;
  for (const long size : sizes) count *= size;
  if (n < 0 || n >= count) throw std::out_of_range("index_of: there is no such element");
  Dims position(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    position[d] = n % sizes[d];
    n /= sizes[d];
  }
  return position;
  // END SOLUTION 0.2
}

}  // namespace course
