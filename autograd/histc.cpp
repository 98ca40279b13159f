#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

#include <cmath>

namespace gradus {

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  check<TypeError>(self.is_floating_point(), "histc: dtype ", self.dtype(),
                   " is not a floating point type; convert with .to(kFloat)");
  check(bins > 0, "histc: bins is ", bins, ", expected a positive number");
  const Tensor x = self.detach().reshape({-1}).to(computed_type(self.dtype()));
  double low = min.toDouble(), high = max.toDouble();
  if (low == high && x.numel() > 0) low = x.min().item<double>(), high = x.max().item<double>();
  if (low == high) low -= 1, high += 1;
  check(std::isfinite(low) && std::isfinite(high), "histc: the range [", low, ", ", high,
        "] is not finite; give min and max");
  check(low < high, "histc: min is ", low, ", max ", high, "; expected min <= max");
  const Tensor inside = logical_and(x >= low, x <= high);
  // The last interval holds its upper end.
  const Tensor bin = ((where(inside, x, low) - low) * static_cast<double>(bins) / (high - low))
                         .to(kLong)
                         .minimum(bins - 1);
  return zeros({bins}, x.options().dtype(kLong))
      .scatter_add(0, bin, inside.to(kLong))
      .to(self.dtype());
}

}  // namespace gradus
