// Functions of the C library: std::ldiv has the quotient and the remainder.
#include <cstdlib>
#include <functional>
#include <numeric>

#include "core/tensors.h"

namespace course {

Dims index_of(long n, const Dims& sizes) {
  const long count = std::accumulate(sizes.begin(), sizes.end(), 1L, std::multiplies<long>());
  if (n < 0 || n >= count) throw std::out_of_range("no such element");
  Dims out(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    const std::ldiv_t div = std::ldiv(n, sizes[d]);
    out[d] = div.rem;
    n = div.quot;
  }
  return out;
}

}  // namespace course
