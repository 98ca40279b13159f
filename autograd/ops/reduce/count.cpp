// bincount and count_nonzero.
#include "gradus/autograd/ops/reduce.h"
#include "gradus/tensor/base/checked.h"

namespace gradus {

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check(self.operand("bincount").dim() == 1, "bincount: self has shape ", self.sizes(),
        ", expected one dimension; flatten it");
  check<TypeError>(isIntegralType(self.dtype()), "bincount: self has dtype ", self.dtype(),
                   ", expected integers; convert with .to(kLong)");
  check(minlength >= 0, "bincount: minlength is ", minlength, "; give 0 or more");
  check(!weights.defined() || weights.sizes() == self.sizes(), "bincount: weights have shape ",
        weights.defined() ? weights.sizes() : IntArrayRef(), ", self ", self.sizes(),
        "; expected the same");
  if (self.numel() == 0) return zeros({minlength}, self.options().dtype(kLong));
  const int64_t least = self.min().item<int64_t>(), most = self.max().item<int64_t>();
  check(least >= 0, "bincount: ", least, " is negative; expected numbers from 0 on");
  const ScalarType dtype = !weights.defined()          ? kLong
                           : weights.dtype() == kFloat ? kFloat
                                                       : kDouble;
  const TensorOptions options = self.options().dtype(dtype);
  const Tensor worth =
      weights.defined() ? weights.detach().to(dtype) : ones({}, options).expand(self.sizes());
  const int64_t numbers = (Checked(most) + 1).get("bincount", "the number of bins");
  Tensor out = zeros({std::max(minlength, numbers)}, options);
  return out.scatter_add_(0, self.to(kLong), worth);
}

Tensor bincount(const Tensor& self) { return bincount(self, {}, 0); }

Tensor count_nonzero(const Tensor& self, IntArrayRef dim) { return truth(self).sum(dim); }
Tensor count_nonzero(const Tensor& self, int64_t dim) { return truth(self).sum(dim); }
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? truth(self).sum(*dim) : raw::count_nonzero(self);
}

}  // namespace gradus
