// LOSES: refused
// Lets sizes pass where one divides the other.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  const bool a_is_longer = a.size() > b.size();
  Dims out = a_is_longer ? a : b;
  const Dims& other = a_is_longer ? b : a;
  const size_t in_front = out.size() - other.size();
  for (size_t d = 0; d < other.size(); ++d) {
    long& size = out[in_front + d];
    if (size == 1) size = other[d];
    if (size > 0 && other[d] > 0 && size % other[d] != 0) throw std::invalid_argument("broadcast: sizes differ, and neither is 1");
  }
  return out;
}

}  // namespace course
