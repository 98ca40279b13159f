// Searches in lists that are in order, and for elements that are not 0.
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

Tensor searchsorted(const Tensor& list, const Tensor& values, bool right) {
  check_ordered("searchsorted", list), check_ordered("searchsorted", values);
  const Tensor out = empty(values.sizes(), kLong, values.device());
  if (out.numel() == 0) return out;
  if (list.numel() == 0) {
    fill_(out, 0);
    return out;
  }
  const ScalarType compute = computed_type(result_type(list, lifted(values)));
  backend(out).searchsorted(right, raw::contiguous(to(list, compute)),
                            raw::contiguous(lifted(to(values, compute))), lifted(out));
  return out;
}

Tensor count_nonzero(const Tensor& x) {
  if (x.is_complex()) return raw::count_nonzero(to(x, kBool));
  const Tensor out = empty({}, kLong, x.device());
  if (x.numel() > 0)
    backend(x).count_nonzero(x, out);
  else
    fill_(out, 0);
  return out;
}

}  // namespace gradus::raw
