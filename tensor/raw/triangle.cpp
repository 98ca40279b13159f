// triangle: tril and triu.
#include <algorithm>

#include "gradus/tensor/raw/raw.h"

namespace gradus::raw {

Tensor triangle(const char* op, bool upper, int64_t diagonal, const Tensor& x) {
  check(x.operand(op).dim() >= 2, op, ": the tensor has shape ", x.sizes(),
        ", expected at least two dimensions");
  const Tensor out = empty_like(x);
  if (out.numel() > 0)  // beyond the corners nothing changes any more
    backend(out).triangle(upper, std::clamp(diagonal, -x.size(-2) - 1, x.size(-1) + 1), x, out);
  return out;
}

}  // namespace gradus::raw
