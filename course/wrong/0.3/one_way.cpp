// LOSES: size one, ranks, size zero, random
// Only the shorter operand may have size 1.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Dims out = a;
  const size_t in_front = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[in_front + d];
    if (b[d] != 1 && b[d] != size) throw std::invalid_argument("broadcast: the sizes do not fit");
  }
  return out;
}

}  // namespace course
