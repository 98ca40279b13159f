// LOSES: ranks, no dimensions, size zero, random
// Wants the same rank of both.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() != b.size()) throw std::invalid_argument("broadcast: the ranks differ");
  Dims out = a;
  const size_t in_front = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[in_front + d];
    if (size == 1) size = b[d];
    if (b[d] != 1 && b[d] != size) throw std::invalid_argument("broadcast: the sizes do not fit");
  }
  return out;
}

}  // namespace course
