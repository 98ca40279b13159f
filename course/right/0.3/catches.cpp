// Catches its own exception by its type, and says more.
#include <string>

#include "core/tensors.h"

namespace course {

static long fit(long a, long b) {
  if (a != b && a != 1 && b != 1) throw std::invalid_argument(std::to_string(a) + " meets " + std::to_string(b));
  return a == 1 ? b : a;
}

Dims broadcast(const Dims& a, const Dims& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Dims out = a;
  for (size_t d = 0; d < b.size(); ++d) {
    long& size = out[a.size() - b.size() + d];
    try {
      size = fit(size, b[d]);
    } catch (const std::exception& error) {
      throw std::invalid_argument("dimension " + std::to_string(d) + ": " + error.what());
    }
  }
  return out;
}

}  // namespace course
