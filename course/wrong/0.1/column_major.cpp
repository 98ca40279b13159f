// LOSES: known, size one, size zero, large, in order
// Column-major: the first dimension has stride 1.
#include "core/tensors.h"

namespace course {

Dims strides_of(const Dims& sizes) {
  Dims strides(sizes.size());
  long step = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = step;
    step *= sizes[d] > 0 ? sizes[d] : 1;
  }
  return strides;
}

}  // namespace course
