// LOSES: size zero
// Divides before it looks whether there is such an element.
#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  long count = 1;
  for (const long size : sizes) count *= size;
  const long number = n;
  Dims position(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    position[d] = n % sizes[d];
    n /= sizes[d];
  }
  if (number < 0 || n > 0) throw std::out_of_range("index_of: there is no such element");
  return position;
}

}  // namespace course
