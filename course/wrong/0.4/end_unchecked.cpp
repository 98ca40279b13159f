// LOSES: refused
// narrow does not look whether the part ends within x.
#include "core/tensors.h"

namespace course {

View permute(const View& x, const Dims& order) {
  if (order.size() != x.sizes.size()) throw std::invalid_argument("permute: order has another length than the sizes");
  View out{x.data, x.offset, {}, {}};
  std::vector<bool> taken(order.size());
  for (const long d : order) {
    const auto from = static_cast<size_t>(d);
    if (from >= order.size() || taken[from]) throw std::invalid_argument("permute: order is no permutation");
    taken[from] = true;
    out.sizes.push_back(x.sizes[from]);
    out.strides.push_back(x.strides[from]);
  }
  return out;
}

View narrow(const View& x, long dim, long start, long length) {
  const auto d = static_cast<size_t>(dim);
  if (d >= x.sizes.size()) throw std::invalid_argument("narrow: there is no such dimension");
  if (start < 0 || length < 0) throw std::invalid_argument("narrow: not within x");
  View out = x;
  out.offset += start * x.strides[d];
  out.sizes[d] = length;
  return out;
}

View expand(const View& x, const Dims& sizes) {
  if (sizes.size() < x.sizes.size()) throw std::invalid_argument("expand: x has more dimensions");
  View out{x.data, x.offset, sizes, Dims(sizes.size(), 0)};
  const size_t in_front = sizes.size() - x.sizes.size();
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    if (x.sizes[d] == sizes[in_front + d])
      out.strides[in_front + d] = x.strides[d];
    else if (x.sizes[d] != 1)
      throw std::invalid_argument("expand: the sizes do not fit");
  }
  return out;
}

}  // namespace course
