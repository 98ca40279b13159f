// cross and linalg_cross, with their gradients.
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/called.h"

namespace gradus {

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  GRADUS_AUTOCAST_AS(cross, linalg_cross, self, other, dim);
  const Called op("linalg.cross");
  check(self.operand(op).dim() == other.operand(op, "other").dim(), op, ": self has shape ",
        self.sizes(), ", other ", other.sizes(), "; expected the same number of dimensions");
  check<TypeError>(self.dtype() == other.dtype(), op, ": self has dtype ", self.dtype(), ", other ",
                   other.dtype(), "; convert one with .to(...)");
  const int64_t d = wrap_dim(op, dim, self);
  check(self.dim() > 0 && self.size(d) == 3 && other.size(d) == 3, op, ": dimension ", d,
        " of self ", self.sizes(), " and other ", other.sizes(), " must have size 3");
  Tensor out;
  {
    const NoGradGuard guard;
    // (y z' - z y', z x' - x z', x y' - y x')
    const auto rolled = [d](const Tensor& x, int64_t by) { return x.roll(by, d); };
    out = rolled(self, -1) * rolled(other, -2) - rolled(self, -2) * rolled(other, -1);
  }
  if (recording(self, other))
    record("LinalgCrossBackward0", out, {self, other}, {self, other},
           [d](Node& n, const Tensor& grad) {
             Tensors grads(2);
             if (n.wants(0)) grads[0] = linalg_cross(conj(n.saved(1)), grad, d);
             if (n.wants(1)) grads[1] = linalg_cross(grad, conj(n.saved(0)), d);
             return grads;
           });
  return out;
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  const Called op("cross");
  int64_t d = dim.value_or(0);
  if (!dim) {
    while (d < self.operand(op).dim() && self.sizes()[d] != 3) ++d;
    check(d < self.dim(), op, ": self of shape ", self.sizes(),
          " has no dimension of size 3; expected one");
  }
  return linalg_cross(self, other, d);
}

}  // namespace gradus
