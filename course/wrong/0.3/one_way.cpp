// LOSES: size one, ranks, size zero, random
// Only the shorter operand may have size 1.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  const bool a_is_longer = a.size() > b.size();
  Dims out = a_is_longer ? a : b;
  const Dims& other = a_is_longer ? b : a;
  const size_t in_front = out.size() - other.size();
  for (size_t d = 0; d < other.size(); ++d) {
    long& size = out[in_front + d];
    if (other[d] != 1 && other[d] != size) throw std::invalid_argument("broadcast: sizes differ, and neither is 1");
  }
  return out;
}

}  // namespace course
