// LOSES: size one, strided, expanded
// A view only where x is contiguous.
#include "core/tensors.h"

namespace course {

std::optional<View> reshape(const View& x, const Dims& sizes) {
  View out{x.data, x.offset, sizes, Dims(sizes.size())};
  long count = 1, known = 1;
  for (const long size : x.sizes) count *= size;
  long* open = nullptr;  // the size that is -1
  for (long& size : out.sizes) {
    if (size < -1 || (size == -1 && open != nullptr)) throw std::invalid_argument("reshape: these are no sizes");
    if (size == -1)
      open = &size;
    else
      known *= size;
  }
  if (open != nullptr && known > 0) known *= *open = count / known;
  if (known != count || (open != nullptr && *open < 0))
    throw std::invalid_argument("reshape: the sizes do not fit the number of elements");
  if (count == 0) return out;

  long stride = 1;
  for (size_t d = x.sizes.size(); d-- > 0; stride *= x.sizes[d])
    if (x.strides[d] != stride) return std::nullopt;
  stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= out.sizes[d]) out.strides[d] = stride;
  return out;
}

}  // namespace course
