// LOSES: size zero, refused
// Takes the larger of 0 and 1.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Dims out = a;
  const size_t in_front = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[in_front + d];
    if (size == 1) size = b[d] > 1 ? b[d] : 1;
    if (b[d] > 1 && b[d] != size) throw std::invalid_argument("broadcast: the sizes do not fit");
  }
  return out;
}

}  // namespace course
