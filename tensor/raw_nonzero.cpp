#include "gradus/tensor/raw.h"

namespace gradus::raw {

Tensor flat_nonzero(const Tensor& x) {
  const Tensor here = raw::contiguous(to(to(x, kBool), Device(kCPU)));
  const bool* const chosen = here.data_ptr<bool>();
  int64_t count = 0;
  for (int64_t i = 0; i < here.numel(); ++i) count += chosen[i];
  Tensor out = empty({count}, kLong, Device(kCPU));
  int64_t* to_index = out.data_ptr<int64_t>();
  for (int64_t i = 0; i < here.numel(); ++i)
    if (chosen[i]) *to_index++ = i;
  return to(out, x.device());
}

Tensor nonzero(const Tensor& x) {
  const Tensor flat = to(raw::flat_nonzero(x), Device(kCPU));
  Tensor out = empty({flat.numel(), x.dim()}, kLong, Device(kCPU));
  for (int64_t i = 0; i < flat.numel(); ++i) {
    int64_t rest = flat.data_ptr<int64_t>()[i];
    for (int64_t d = x.dim(); d-- > 0; rest /= x.sizes()[d])
      out.data_ptr<int64_t>()[i * x.dim() + d] = rest % x.sizes()[d];
  }
  return to(out, x.device());
}

}  // namespace gradus::raw
