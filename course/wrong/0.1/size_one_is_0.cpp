// LOSES: known, size one
// A dimension of size 1 gets stride 0, as if it were broadcast.
#include "core/tensors.h"

namespace course {

Dims strides_of(const Dims& sizes) {
  Dims strides(sizes.size());
  long step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = sizes[d] == 1 ? 0 : step;
    step *= sizes[d] > 0 ? sizes[d] : 1;
  }
  return strides;
}

}  // namespace course
