// LOSES: large
// The product of sizes is an int, which overflows.
#include "core/tensors.h"

namespace course {

Dims strides_of(const Dims& sizes) {
  Dims strides(sizes.size());
  int step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= sizes[d] > 0 ? sizes[d] : 1;
  }
  return strides;
}

}  // namespace course
