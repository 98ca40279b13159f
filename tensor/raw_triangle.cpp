#include "gradus/tensor/raw.h"

namespace gradus {

void Backend::triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) {
  const auto count = [&](int64_t n) {
    const Tensor numbers = raw::empty({n}, kLong, x.device());
    arange(numbers, 0, 1);
    return numbers;
  };
  const Tensor columns = count(x.size(-1)), rows = raw::unsqueeze(count(x.size(-2)), 1);
  const Tensor kept = raw::zip(upper ? BinaryOp::ge : BinaryOp::le,
                               raw::zip(BinaryOp::sub, columns, rows), Scalar(diagonal));
  const Tensor zero = raw::empty({}, x.scalar_type(), x.device());
  fill(zero, 0);
  where(raw::expand(kept, x.sizes()), x, raw::expand(zero, x.sizes()), out);
}

namespace raw {

Tensor triangle(const char* op, bool upper, int64_t diagonal, const Tensor& x) {
  check(x.dim() >= 2, op, ": the tensor has shape ", x.sizes(),
        ", expected at least two dimensions");
  const Tensor out = empty_like(x);
  if (out.numel() > 0) backend(out).triangle(upper, diagonal, x, out);
  return out;
}

}  // namespace raw
}  // namespace gradus
