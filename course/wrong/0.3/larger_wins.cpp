// LOSES: size zero, refused
// Takes the larger size, and refuses nothing.
#include "core/tensors.h"

namespace course {

Dims broadcast(const Dims& a, const Dims& b) {
  const bool a_is_longer = a.size() > b.size();
  Dims out = a_is_longer ? a : b;
  const Dims& other = a_is_longer ? b : a;
  const size_t in_front = out.size() - other.size();
  for (size_t d = 0; d < other.size(); ++d) {
    out[in_front + d] = std::max(out[in_front + d], other[d]);
  }
  return out;
}

}  // namespace course
