// cov and corrcoef of variables, which are the rows of a matrix.
#include "gradus/autograd/functions.h"

namespace gradus {

namespace {
// A weight for each observation, or an undefined tensor.
Tensor weights(const char* name, const std::optional<Tensor>& given, int64_t observations) {
  if (!given || !given->defined()) return {};
  check(given->dim() <= 1 && given->numel() == observations, "cov: ", name, " has shape ",
        given->sizes(), ", expected one for each of ", observations, " observations");
  return given->reshape({-1});
}

void check_not_negative(const char* name, const Tensor& weights) {
  if (!weights.defined() || weights.numel() == 0) return;
  const double least = weights.min().item().toDouble();
  check(least >= 0, "cov: a weight is below 0: ", name, " has ", least,
        ", expected 0 or more; clamp_min(0) them");
}
}  // namespace

Tensor cov(const Tensor& self, int64_t correction) {
  return cov(self, correction, std::nullopt, std::nullopt);
}
Tensor cov(const Tensor& self, int64_t correction, const std::optional<Tensor>& fweights) {
  return cov(self, correction, fweights, std::nullopt);
}
Tensor cov(const Tensor& self, int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  check(self.operand("cov").dim() <= 2, "cov: self has shape ", self.sizes(),
        ", expected two dimensions or fewer");
  check<TypeError>(self.dtype() != kBool,
                   "cov: dtype bool is not supported; convert with .to(...)");
  const Tensor x = self.dim() == 2 ? self : self.reshape({1, -1});
  const int64_t observations = x.size(1);
  const Tensor counts = weights("fweights", fweights, observations);
  const Tensor reliabilities = weights("aweights", aweights, observations);
  if (counts.defined())
    check<TypeError>(isIntegralType(counts.dtype()), "cov: fweights are counts, and have dtype ",
                     counts.dtype(), "; convert with .to(kLong)");
  if (reliabilities.defined())
    check<TypeError>(reliabilities.is_floating_point(), "cov: aweights have dtype ",
                     reliabilities.dtype(), ", expected a floating point type");
  check_not_negative("fweights", counts), check_not_negative("aweights", reliabilities);

  Tensor w;
  if (counts.defined())
    w = reliabilities.defined() ? counts * reliabilities : counts;
  else
    w = reliabilities;
  if (!w.defined()) {
    const Tensor from_mean = x - x.sum(1, true) / observations;
    const auto divisor = std::max<int64_t>(observations - correction, 0);
    return (from_mean.mm(from_mean.mH()) / divisor).squeeze();
  }
  const Tensor total = w.sum();
  check(total.item().toDouble() != 0,
        "cov: weights sum to zero, can't be normalized: ", observations,
        " observations have no weight; give one of them a weight above 0");
  const Tensor from_mean = x - (x * w).sum(1, true) / total;
  Tensor taken = total.new_full({}, correction);
  if (reliabilities.defined()) taken = taken * (w * reliabilities).sum() / total;
  const Tensor divisor = correction == 0 ? total : (total - taken).clamp_min(0);
  return ((from_mean * w).mm(from_mean.mH()) / divisor).squeeze();
}

Tensor corrcoef(const Tensor& self) {
  const Tensor c = self.cov();
  if (c.dim() == 0) return c / c;
  const Tensor deviations = c.diagonal().sqrt();
  return (c / deviations.unsqueeze(1) / deviations).clamp(-1, 1);
}

}  // namespace gradus
