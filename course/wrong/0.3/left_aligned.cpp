// LOSES: ranks, refused, random
// Aligns the first dimensions, not the last ones.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Dims out = a;
  const size_t in_front = 0;
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[in_front + d];
    if (size == 1) size = b[d];
    if (b[d] != 1 && b[d] != size) throw std::invalid_argument("broadcast: the sizes do not fit");
  }
  return out;
}

}  // namespace course
