// Searches in lists that are in order, and for elements that are not 0.
#include "gradus/tensor/raw.h"

namespace gradus {

void Backend::count_nonzero(const Tensor& x, const Tensor& out) {
  const Tensor zero = raw::empty({}, x.scalar_type(), x.device());
  fill(zero, 0);
  const Dims ones = Dims::filled(x.dim(), 1);
  reduce(ReduceOp::sum, raw::to(raw::zip(BinaryOp::ne, x, zero), kLong),
         raw::alias(out, ones, ones));
}

void Backend::bisect(bool right, const Tensor& list, const Tensor& values, const Tensor& out) {
  // All at once: a dimension stands for the list that each value belongs to.
  const int64_t n = list.size(-1);
  const bool is_one = list.dim() == 1;
  const Dims sizes = is_one ? Dims{values.numel()} : values.impl().sizes;
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1;
  const Tensor wanted = *raw::try_view(values, sizes), below = *raw::try_view(out, sizes);
  fill(below, 0);
  // Moves below by `count` where the element before that is less.
  const auto move = [&](int64_t before, int64_t count) {
    const Tensor found = raw::gather(list, last, raw::zip(BinaryOp::add, below, Scalar(before)));
    const Tensor stops = raw::zip(right ? BinaryOp::gt : BinaryOp::ge, found, wanted);
    where(stops, below, raw::zip(BinaryOp::add, below, Scalar(count)), below);
  };
  int64_t length = n;
  for (; length > 1; length -= length / 2) move(length / 2 - 1, length / 2);
  move(0, 1);
}

namespace raw {

Tensor bisect(const Tensor& list, const Tensor& values, bool right) {
  const Tensor out = empty(values.sizes(), kLong, values.device());
  if (out.numel() == 0) return out;
  if (list.numel() == 0) {
    fill_(out, 0);
    return out;
  }
  const ScalarType compute = computed_type(result_type(list, lifted(values)));
  backend(out).bisect(right, raw::contiguous(to(list, compute)),
                      raw::contiguous(lifted(to(values, compute))), lifted(out));
  return out;
}

Tensor count_nonzero(const Tensor& x) {
  const Tensor out = empty({}, kLong, x.device());
  if (x.numel() > 0)
    backend(x).count_nonzero(x, out);
  else
    fill_(out, 0);
  return out;
}

}  // namespace raw
}  // namespace gradus
