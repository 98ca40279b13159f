// Task 0.5: other sizes for the same elements.
#include <limits>

#include "core/tensors.h"

namespace course {

std::optional<View> reshape(const View& x, const Dims& sizes) {
  // BEGIN SOLUTION 0.5
  View out{x.data, x.offset, sizes, Dims(sizes.size())};
  long count = 1, known = 1;
  for (const long size : x.sizes) count *= size;
  constexpr long kMost = std::numeric_limits<long>::max();  // in place of a product that no long holds
  long* open = nullptr;  // the size that is -1
  for (long& size : out.sizes) {
    if (size < -1 || (size == -1 && open != nullptr)) throw std::invalid_argument("reshape: these are no sizes");
    if (size == -1)
      open = &size;
    else
      known = size > 0 && known > kMost / size ? kMost : known * size;
  }
  if (open != nullptr && known > 0) known *= *open = count / known;
  if (known != count || (open != nullptr && *open < 0))
    throw std::invalid_argument("reshape: the sizes do not fit the number of elements");
  if (count == 0) return out;

  // Dimensions of x whose elements lie at equal steps are one run. A dimension of out must lie within a run.
  size_t from = x.sizes.size();
  long left = 1, step = 1;  // of the run: how many elements wait for a dimension of out, and how far they are apart
  for (size_t to = sizes.size(); to-- > 0;) {
    while (left == 1 && out.sizes[to] != 1) step = x.strides[--from], left = x.sizes[from];
    while (from > 0 && (x.sizes[from - 1] == 1 || x.strides[from - 1] == step * left)) left *= x.sizes[--from];
    if (left % out.sizes[to] != 0) return std::nullopt;
    out.strides[to] = step;
    step *= out.sizes[to], left /= out.sizes[to];
  }
  return out;
  // END SOLUTION 0.5
}

}  // namespace course
