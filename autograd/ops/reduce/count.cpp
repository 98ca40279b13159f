#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus {

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check<TypeError>(self.dtype() == kLong, "one_hot: target has dtype ", self.dtype(),
                   ", expected int64; convert with .to(kLong)");
  check(num_classes >= -1, "one_hot: num_classes is ", num_classes,
        ", expected a positive number, or -1 to count them");
  check(self.numel() > 0 || num_classes > 0,
        "one_hot: num_classes cannot be inferred from an empty target; give it");
  if (self.numel() > 0) {
    const int64_t low = self.min().item<int64_t>(), high = self.max().item<int64_t>();
    if (num_classes == -1) num_classes = high + 1;
    check<IndexError>(low >= 0 && high < num_classes, "one_hot: target ", low < 0 ? low : high,
                      " is out of range for ", num_classes, " classes");
  }
  Dims sizes = self.impl().sizes;
  sizes.push_back(num_classes);
  return zeros(sizes, self.options()).scatter_(-1, self.unsqueeze(-1), 1);
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  check(self.dim() == 1, "bincount: self has shape ", self.sizes(), ", expected one dimension");
  check<TypeError>(isIntegralType(self.dtype()), "bincount: self has dtype ", self.dtype(),
                   ", expected integers");
  check(minlength >= 0, "bincount: minlength is ", minlength, ", expected no negative number");
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
  Tensor out = zeros({std::max(minlength, most + 1)}, options);
  return out.scatter_add_(0, self.to(kLong), worth);
}

Tensor bincount(const Tensor& self) { return bincount(self, {}, 0); }

}  // namespace gradus
