// Conversions and copies for the contracts of devices.
#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

bool lies(Strides how, const Tensor& x) {
  if (how == Strides::any || x.is_contiguous()) return true;
  const int64_t d = x.dim();
  return how == Strides::rows && x.strides()[d - 1] == 1 &&
         (d == 1 || x.strides()[d - 2] >= x.sizes()[d - 1]);
}

Tensor taken(Parameter p, const Tensor& x) {
  if (!x.defined() || takes(p, x)) return x;
  const Tensor out = to(x, taken_type(p, x));
  return takes(p, out) ? out : raw::contiguous(out);
}

Tensor empty_rows(Parameter p, const Tensor& x) {
  constexpr int64_t kWidth = 8, kLarge = 1 << 20;  // kWidth: of 16 bits each, in 16 bytes
  const int64_t rows = x.sizes()[0], columns = x.sizes()[1], rest = columns % kWidth;
  if (!takes_beside(p.function(), x).padded || x.element_size() != 2 || rest == 0 ||
      rows * columns < kLarge)
    return empty_like(x);
  return raw::narrow(empty({rows, columns + kWidth - rest}, x.dtype(), x.device()), 1, 0, columns);
}

}  // namespace gradus::raw
