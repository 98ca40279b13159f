// Task 0.5, another way: the only strides that could do are tried on every element. Sizes are multiplied in 128 bits.
#include <algorithm>
#include <limits>

#include "core/tensors.h"

namespace course {

static long place(long n, const Dims& sizes, const Dims& strides) {
  long at = 0;
  for (size_t d = sizes.size(); d-- > 0; n /= sizes[d]) at += n % sizes[d] * strides[d];
  return at;
}

std::optional<View> reshape(const View& x, const Dims& sizes) {
  View out{x.data, x.offset, sizes, Dims(sizes.size())};
  long count = 1, open = -1;
  __int128 known = 1;
  for (const long size : x.sizes) count *= size;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < -1 || (sizes[d] == -1 && open >= 0)) throw std::invalid_argument("reshape: no sizes");
    if (sizes[d] == -1)
      open = static_cast<long>(d);
    else
      known = std::min<__int128>(known * sizes[d], std::numeric_limits<long>::max());
  }
  if (open >= 0 && known == 0) throw std::invalid_argument("reshape: -1 beside 0");
  if (open >= 0) known *= out.sizes[static_cast<size_t>(open)] = static_cast<long>(count / known);
  if (known != count) throw std::invalid_argument("reshape: another number of elements");
  if (count == 0) return out;
  long behind = 1;
  for (size_t d = sizes.size(); d-- > 0; behind *= out.sizes[d])
    out.strides[d] = out.sizes[d] > 1 ? place(behind, x.sizes, x.strides) : 0;
  for (long n = 0; n < count; ++n)
    if (place(n, out.sizes, out.strides) != place(n, x.sizes, x.strides)) return std::nullopt;
  return out;
}

}  // namespace course
