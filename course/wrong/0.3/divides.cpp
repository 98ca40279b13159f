// LOSES: refused
// Lets sizes pass where one divides the other.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Dims out = a;
  const size_t in_front = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[in_front + d];
    if (size == 1) size = b[d];
    if (size > 0 && b[d] > 0 && size % b[d] != 0) throw std::invalid_argument("broadcast: the sizes do not fit");
  }
  return out;
}

}  // namespace course
